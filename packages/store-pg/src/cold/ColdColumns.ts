/** Events as rows that move: how they are read, recognized, and written back. Times are in microseconds since 2000. */
import type { ColdEvent } from "@data-cabinet/core/cold/ColdFiles"
import type { Channel, SpamReason } from "@data-cabinet/core/event/EventLog"
import { boolArray, int8Array, textArray } from "../connection/Parameter.ts"

/** 2000-01-01 in microseconds since 1970. */
const EPOCH = 946_684_800_000_000n

const micros = (time: string): string =>
  `(extract(epoch FROM ${time} - '2000-01-01 00:00:00+00'::timestamptz) * 1000000)::int8`

const timeOf = (micro: string): string => `'2000-01-01 00:00:00+00'::timestamptz + ${micro} * interval '1 microsecond'`

/** Every column of an event that is not computed. */
export const ROW_COLUMNS = [
  "epoch",
  "xid",
  "id",
  "source_id",
  "received_at",
  "repeat_of",
  "original_request_id",
  "deleted_at",
  "purged_at",
  "channel",
  "history",
  "empty",
  "verified",
  "spam",
  "payload",
] as const

const TIMES: ReadonlySet<string> = new Set(["received_at", "deleted_at", "purged_at"])

/** The hash of the row `e`, whatever the settings of the session. */
export const ROW_HASH = `hashtextextended(ROW (${ROW_COLUMNS.map((name) =>
  TIMES.has(name) ? micros(`e.${name}`) : name === "payload" ? "e.payload::text" : `e.${name}`,
).join(", ")})::text, 0)`

/** The columns of an `EventRow`, of the row `e`. */
export const EVENT_ROW = `e.epoch::float8 AS epoch, e.xid::text AS xid, e.id::float8 AS id, e.source_id::float8 AS "sourceId",
  ${micros("e.received_at")}::text AS "receivedAt", e.repeat_of::float8 AS "repeatOf", e.original_request_id::float8 AS "originalRequestId",
  ${micros("e.deleted_at")}::text AS "deletedAt", ${micros("e.purged_at")}::text AS "purgedAt", e.channel, e.history, e.empty,
  e.verified, e.spam, e.payload::text AS payload, ${ROW_HASH}::text AS hash`

/** An event as its row is read. */
export interface EventRow {
  readonly epoch: number
  readonly xid: string
  readonly id: number
  readonly sourceId: number
  readonly receivedAt: string
  readonly repeatOf: number | null
  readonly originalRequestId: number | null
  readonly deletedAt: string | null
  readonly purgedAt: string | null
  readonly channel: Channel
  readonly history: boolean
  readonly empty: boolean
  readonly verified: boolean | null
  readonly spam: SpamReason | null
  readonly payload: string
  readonly hash: string
}

/** A time to the millisecond; null for one that JavaScript does not know, which then does not bound a search. */
export const microsOf = (time: string): bigint | null => {
  const millis = Date.parse(time)
  return Number.isNaN(millis) ? null : BigInt(millis) * 1_000n - EPOCH
}

const orNull = (text: string | null): bigint | null => (text === null ? null : BigInt(text))

export const toCold = ({ xid, receivedAt, deletedAt, purgedAt, hash, ...row }: EventRow): ColdEvent => ({
  epoch: row.epoch,
  xid: BigInt(xid),
  id: row.id,
  sourceId: row.sourceId,
  receivedAt: BigInt(receivedAt),
  channel: row.channel,
  history: row.history,
  empty: row.empty,
  repeatOf: row.repeatOf,
  originalRequestId: row.originalRequestId,
  deletedAt: orNull(deletedAt),
  purgedAt: orNull(purgedAt),
  verified: row.verified,
  spam: row.spam,
  payload: row.payload,
  hash: BigInt(hash),
})

/** Brings events back that are not there. The parameters are `insertValues`. */
export const INSERT_EVENTS = `
INSERT INTO cabinet.event (${ROW_COLUMNS.join(", ")})
SELECT g.epoch, g.xid, g.id, g.source_id, ${timeOf("g.received_at")}, g.repeat_of, g.original_request_id, ${timeOf("g.deleted_at")},
  ${timeOf("g.purged_at")}, g.channel, g.history, g.empty, g.verified, g.spam, g.payload::json
FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[], $9::int8[], $10::text[],
  $11::bool[], $12::bool[], $13::bool[], $14::text[], $15::text[]) AS g(${ROW_COLUMNS.join(", ")})
ON CONFLICT (id) DO NOTHING`

/** The values of `INSERT_EVENTS`. */
export const insertValues = (events: ReadonlyArray<ColdEvent>): ReadonlyArray<unknown> => [
  int8Array(events.map(({ epoch }) => epoch)),
  int8Array(events.map(({ xid }) => xid)),
  int8Array(events.map(({ id }) => id)),
  int8Array(events.map(({ sourceId }) => sourceId)),
  int8Array(events.map(({ receivedAt }) => receivedAt)),
  int8Array(events.map(({ repeatOf }) => repeatOf)),
  int8Array(events.map(({ originalRequestId }) => originalRequestId)),
  int8Array(events.map(({ deletedAt }) => deletedAt)),
  int8Array(events.map(({ purgedAt }) => purgedAt)),
  textArray(events.map(({ channel }) => channel)),
  boolArray(events.map(({ history }) => history)),
  boolArray(events.map(({ empty }) => empty)),
  boolArray(events.map(({ verified }) => verified)),
  textArray(events.map(({ spam }) => spam)),
  textArray(events.map(({ payload }) => payload)),
]

const timeText = (at: bigint): string => {
  const unix = at + EPOCH
  const second = unix >= 0n ? unix / 1_000_000n : (unix - 999_999n) / 1_000_000n
  const fraction = String(unix - second * 1_000_000n).padStart(6, "0")
  return `${new Date(Number(second) * 1000).toISOString().slice(0, -5)}.${fraction}Z`
}

const timeJson = (at: bigint | null): string => (at === null ? "null" : `"${timeText(at)}"`)

const recordOf = (event: ColdEvent): string => {
  const { epoch, xid, id, sourceId, repeatOf, originalRequestId, channel, history, empty, verified, spam } = event
  const plain = JSON.stringify({
    epoch,
    xid: String(xid),
    id,
    source_id: sourceId,
    repeat_of: repeatOf,
    original_request_id: originalRequestId,
    channel,
    history,
    empty,
    verified,
    spam,
    bytes: Buffer.byteLength(event.payload),
  })
  const times = `"received_at":${timeJson(event.receivedAt)},"deleted_at":${timeJson(event.deletedAt)},"purged_at":${timeJson(event.purgedAt)}`
  return `${plain.slice(0, -1)},${times},"payload":${event.payload}}`
}

/** Events as the parameter of `COLD_EVENTS`. */
export const recordsOf = (events: ReadonlyArray<ColdEvent>): string => `[${events.map(recordOf).join(",")}]`

/** Events of a parameter, in place of the table of events. */
export const coldEvents = (parameter: string): string =>
  `json_populate_recordset(NULL::cabinet.event, ${parameter}::json)`

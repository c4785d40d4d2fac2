/** One event with its original request, in PostgreSQL. */
import { EventDetail, type EventRecord, type LaterVerdict } from "@data-cabinet/core/event/EventDetail"
import type { Original, SpamReason } from "@data-cabinet/core/event/EventLog"
import { type OtherReadingsJson, othersOf } from "@data-cabinet/core/event/OriginalShape"
import type { RecipeName } from "@data-cabinet/core/verification/Recipes"
import type { RefusalReason } from "@data-cabinet/core/verification/VerifySender"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { coldEvents, recordsOf } from "../cold/ColdColumns.ts"
import { ColdReader } from "../feed/ColdReader.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { SOURCES_SCHEMA } from "../row/SourceTable.ts"

interface DetailRow {
  readonly event: string
  readonly source_id: string
  readonly table_name: string | null
  readonly row_waits: boolean
  readonly row_set_aside: string | null
  readonly spam: SpamReason | null
  readonly received_at: string
  readonly body: Uint8Array | null
  readonly body_bytes: number
  readonly content_type: string | null
  readonly ip: string | null
  readonly referer: string | null
  readonly origin: string | null
  readonly user_agent: string | null
  readonly accept_language: string | null
  readonly charset: string
  readonly charset_from: string
  readonly replaced: number
  readonly other_readings: OtherReadingsJson | null
  readonly headers: Readonly<Record<string, string>> | null
  readonly query: string | null
  readonly recipe: RecipeName | null
  readonly refusal: RefusalReason | null
  readonly late_recipe: RecipeName | null
  readonly late_refusal: RefusalReason | null
  readonly late_at: string | null
  readonly late_delivered_at: string | null
}

/**
 * The original request has its event's timestamp, which identifies its partition. $2: for how many days it is shown;
 * after that it counts as deleted, and soon is.
 */
const eventDetail = (events: string): string => `
SELECT cabinet.event_json(e, s.name) AS event, e.source_id::text AS source_id, s.table_name,
       EXISTS (SELECT FROM cabinet.deferred_row w WHERE w.event_id = e.id) AS row_waits,
       (SELECT a.reason FROM cabinet.row_set_aside a WHERE a.event_id = e.id) AS row_set_aside, e.spam,
       cabinet.rfc3339(o.received_at) AS received_at, o.body, o.body_bytes, o.content_type, o.ip, o.referer, o.origin,
       o.user_agent, o.accept_language, o.charset, o.charset_from, o.replaced, o.other_readings, o.headers, o.query, o.recipe, o.refusal,
       o.late_recipe, o.late_refusal, cabinet.rfc3339(o.late_at) AS late_at, cabinet.rfc3339(o.late_delivered_at) AS late_delivered_at
FROM ${events} e JOIN cabinet.source s ON s.id = e.source_id
LEFT JOIN cabinet.original_request o ON o.id = e.original_request_id AND o.received_at = e.received_at
  AND o.received_at > cabinet.now() - make_interval(hours => $2::int * 24)
WHERE e.id = $1::int8`

const OF_ROW = eventDetail("cabinet.event")
/** $3: the event as a record. */
const OF_RECORD = eventDetail(coldEvents("$3"))

const toRecord = (row: DetailRow): EventRecord => ({
  event: row.event,
  sourceId: Number(row.source_id),
  table: row.table_name === null ? null : { schema: SOURCES_SCHEMA, name: row.table_name },
  rowWaits: row.row_waits,
  rowSetAside: row.row_set_aside,
  spam: row.spam,
  original:
    row.body === null
      ? null
      : {
          receivedAt: row.received_at,
          body: row.body,
          bodyBytes: row.body_bytes,
          contentType: row.content_type,
          ip: row.ip,
          referer: row.referer,
          origin: row.origin,
          userAgent: row.user_agent,
          acceptLanguage: row.accept_language,
          charset: row.charset,
          charsetFrom: row.charset_from,
          replaced: row.replaced,
          ...othersOf(row.other_readings),
          verdict: row.recipe === null ? null : { recipe: row.recipe, refusal: row.refusal },
          late: lateOf(row),
          ...keptOf(row),
        },
})

const lateOf = (row: DetailRow): LaterVerdict | null => {
  const { late_recipe: recipe, late_refusal: refusal, late_at: at, late_delivered_at: deliveredAt } = row
  return recipe === null || at === null ? null : { recipe, refusal, at, deliveredAt }
}

const keptOf = ({ headers, query }: DetailRow): Pick<Original, "kept"> => {
  if (headers === null && query === null) return {}
  return { kept: { headers: Object.entries(headers ?? {}).map(([name, value]) => ({ name, value })), query } }
}

export interface EventDetailOptions {
  /** How many days original requests are kept. */
  readonly originalDays: number
}

export const layer = ({ originalDays }: EventDetailOptions) =>
  Layer.effect(
    EventDetail,
    Effect.gen(function* () {
      const sql = yield* PgClient.PgClient
      const cold = yield* ColdReader
      const ofRow = (id: number) => sql.unsafe<DetailRow>(OF_ROW, [id, originalDays])
      return EventDetail.of({
        find: (id) =>
          Effect.gen(function* () {
            const [row] = yield* ofRow(id)
            if (row !== undefined) return Option.some(toRecord(row))
            const list = yield* cold.current
            if (list.border === null) return Option.none<EventRecord>()
            const [copy] = yield* cold.reading((files) => cold.find(files, [id]), list)
            // A row that was brought back meanwhile is no longer in a file.
            const [found] = yield* copy === undefined
              ? ofRow(id)
              : sql.unsafe<DetailRow>(OF_RECORD, [id, originalDays, recordsOf([copy.event])])
            return Option.map(Option.fromNullishOr(found), toRecord)
          }).pipe(orUnavailable),
      })
    }),
  )

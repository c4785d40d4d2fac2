/**
 * Files of cold history in Parquet: every column of an event as it is stored, so that DuckDB reads them, and nothing is
 * rounded. The payload is the text as stored. The file's own metadata say what is in each group of rows.
 *
 * Decision: docs/decisions/0105-old-events-move-into-files.md
 */
import { zstdCompressSync, zstdDecompressSync } from "node:zlib"
import type { ColdEvent, ColdGroup } from "@data-cabinet/core/cold/ColdFiles"
import type { Channel, SpamReason } from "@data-cabinet/core/event/EventLog"
import type { ParquetWriter as Writer } from "hyparquet-writer"

type SchemaElement = ConstructorParameters<typeof Writer>[0]["schema"][number]
type Kind = "integer" | "time" | "boolean" | "text" | "json"
type Cell = bigint | boolean | string | null

interface Column {
  readonly name: string
  readonly kind: Kind
  readonly value: (event: ColdEvent) => Cell
}

/** Between 1970 and 2000, in microseconds. */
const EPOCH = 946_684_800_000_000n

const time = (micros: bigint | null): bigint | null => (micros === null ? null : micros + EPOCH)
const integer = (value: number | null): bigint | null => (value === null ? null : BigInt(value))

const COLUMNS: ReadonlyArray<Column> = [
  { name: "id", kind: "integer", value: ({ id }) => BigInt(id) },
  { name: "source_id", kind: "integer", value: ({ sourceId }) => BigInt(sourceId) },
  { name: "channel", kind: "text", value: ({ channel }) => channel },
  { name: "received_at", kind: "time", value: ({ receivedAt }) => time(receivedAt) },
  { name: "payload", kind: "json", value: ({ payload }) => payload },
  { name: "repeat_of", kind: "integer", value: ({ repeatOf }) => integer(repeatOf) },
  { name: "history", kind: "boolean", value: ({ history }) => history },
  { name: "empty", kind: "boolean", value: ({ empty }) => empty },
  { name: "deleted_at", kind: "time", value: ({ deletedAt }) => time(deletedAt) },
  { name: "purged_at", kind: "time", value: ({ purgedAt }) => time(purgedAt) },
  { name: "verified", kind: "boolean", value: ({ verified }) => verified },
  { name: "spam", kind: "text", value: ({ spam }) => spam },
  { name: "original_request_id", kind: "integer", value: ({ originalRequestId }) => integer(originalRequestId) },
  { name: "epoch", kind: "integer", value: ({ epoch }) => BigInt(epoch) },
  { name: "xid", kind: "integer", value: ({ xid }) => xid },
  { name: "row_hash", kind: "integer", value: ({ hash }) => hash },
]

/** While values are written, they come as the file has them: the writer would parse JSON, and round times. */
const PHYSICAL: Readonly<Record<Kind, Omit<SchemaElement, "name">>> = {
  integer: { type: "INT64" },
  time: { type: "INT64" },
  boolean: { type: "BOOLEAN" },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8" },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8" },
}

const DECLARED: Readonly<Record<Kind, Omit<SchemaElement, "name">>> = {
  ...PHYSICAL,
  time: {
    type: "INT64",
    converted_type: "TIMESTAMP_MICROS",
    logical_type: { type: "TIMESTAMP", isAdjustedToUTC: true, unit: "MICROS" },
  },
  text: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
  json: { type: "BYTE_ARRAY", converted_type: "UTF8", logical_type: { type: "STRING" } },
}

const schemaOf = (elements: typeof DECLARED): Array<SchemaElement> => [
  { name: "events", num_children: COLUMNS.length },
  ...COLUMNS.map(({ name, kind }): SchemaElement => ({ name, repetition_type: "OPTIONAL", ...elements[kind] })),
]

const GROUPS = "data_cabinet.groups"

/** Of more sources than this, a group does not list them. */
const MOST_SOURCES = 100

const groupOf = (events: ReadonlyArray<ColdEvent>): ColdGroup => {
  const [first, last] = [events[0]!, events.at(-1)!]
  const sources = new Set(events.map(({ sourceId }) => sourceId))
  let [least, most, from, to] = [first.id, first.id, first.receivedAt, first.receivedAt]
  for (const { id, receivedAt } of events) {
    if (id < least) least = id
    if (id > most) most = id
    if (receivedAt < from) from = receivedAt
    if (receivedAt > to) to = receivedAt
  }
  const place = ({ epoch, xid, id }: ColdEvent) => ({ epoch, xid, id })
  return {
    events: events.length,
    first: place(first),
    last: place(last),
    ids: [least, most],
    times: [from, to],
    sources: sources.size > MOST_SOURCES ? null : [...sources],
  }
}

/** Numbers of 64 bits as text. */
const written = (groups: ReadonlyArray<ColdGroup>): string =>
  JSON.stringify(groups, (_, value: unknown) => (typeof value === "bigint" ? `${value}n` : value))

const readGroups = (text: string): ReadonlyArray<ColdGroup> =>
  JSON.parse(text, (_, value: unknown) =>
    typeof value === "string" && /^-?\d+n$/.test(value) ? BigInt(value.slice(0, -1)) : value,
  ) as ReadonlyArray<ColdGroup>

/** Writes a file piece by piece. */
export interface ColdEncoder {
  /** The bytes of a group of these events. */
  readonly add: (events: ReadonlyArray<ColdEvent>) => Uint8Array
  /** The last bytes. */
  readonly finish: () => Uint8Array
}

/** A new file. */
export const encodeCold = async (): Promise<ColdEncoder> => {
  // Loaded only for cold history.
  const { ByteWriter, ParquetWriter } = await import("hyparquet-writer")
  const bytes = new ByteWriter()
  const compressors = { ZSTD: (page: Uint8Array) => zstdCompressSync(page) }
  const options = { createdBy: "data-cabinet", codec: "ZSTD", compressors, statistics: false } as const
  const writer = new ParquetWriter({ writer: bytes, schema: schemaOf(PHYSICAL), ...options })
  const groups: Array<ColdGroup> = []
  const taken = (): Uint8Array => {
    const piece = Buffer.from(bytes.getBytes())
    bytes.index = 0
    return piece
  }
  return {
    add: (events) => {
      groups.push(groupOf(events))
      const columnData = COLUMNS.map(({ name, value }) => ({ name, data: events.map(value) }))
      void writer.write({ columnData, rowGroupSize: events.length })
      return taken()
    },
    finish: () => {
      writer.schema = schemaOf(DECLARED)
      writer.kvMetadata = [{ key: GROUPS, value: written(groups) }]
      void writer.finish()
      return taken()
    },
  }
}

/** A file of which parts can be read. */
export interface Readable {
  readonly byteLength: number
  readonly slice: (start: number, end?: number) => Promise<ArrayBuffer>
}

/** An opened file. */
export interface ColdDecoder {
  readonly groups: ReadonlyArray<ColdGroup>
  readonly read: (group: number) => Promise<ReadonlyArray<ColdEvent>>
}

const same = (value: unknown) => value
const num = (value: unknown): number => Number(value)
const numOrNull = (value: unknown): number | null => (typeof value === "bigint" ? Number(value) : null)
const since2000 = (value: unknown): bigint | null => (typeof value === "bigint" ? value - EPOCH : null)

const eventOf = (row: Readonly<Record<string, unknown>>): ColdEvent => ({
  id: num(row["id"]),
  epoch: num(row["epoch"]),
  xid: row["xid"] as bigint,
  sourceId: num(row["source_id"]),
  receivedAt: since2000(row["received_at"])!,
  channel: row["channel"] as Channel,
  history: row["history"] as boolean,
  empty: row["empty"] as boolean,
  repeatOf: numOrNull(row["repeat_of"]),
  originalRequestId: numOrNull(row["original_request_id"]),
  deletedAt: since2000(row["deleted_at"]),
  purgedAt: since2000(row["purged_at"]),
  verified: (row["verified"] ?? null) as boolean | null,
  spam: (row["spam"] ?? null) as SpamReason | null,
  payload: row["payload"] as string,
  hash: row["row_hash"] as bigint,
})

/** Opens a file: reads its end. */
export const openCold = async (file: Readable): Promise<ColdDecoder> => {
  const { parquetMetadataAsync, parquetReadObjects } = await import("hyparquet")
  const metadata = await parquetMetadataAsync(file)
  const text = metadata.key_value_metadata?.find(({ key }) => key === GROUPS)?.value
  if (text === undefined) throw new Error("It is not a file of cold history")
  const groups = readGroups(text)
  const compressors = {
    ZSTD: (page: Uint8Array, length: number) => zstdDecompressSync(page, { maxOutputLength: length + 64 }),
  }
  const parsers = { timestampFromMicroseconds: same }
  return {
    groups,
    read: async (group) => {
      const rowStart = groups.slice(0, group).reduce((sum, { events }) => sum + events, 0)
      const rowEnd = rowStart + groups[group]!.events
      const rows = await parquetReadObjects({ file, metadata, rowStart, rowEnd, compressors, parsers })
      return rows.map(eventOf)
    },
  }
}

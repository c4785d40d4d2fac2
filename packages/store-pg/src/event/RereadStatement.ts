/** The statements of rereadings. */
import type { OtherReadingsJson } from "@data-cabinet/core/event/OriginalShape"
import { originalOf, slicedEvents } from "./KeptOriginals.ts"

/** $1: events. Locks them by number, as the trash does: a caller that waited sees the changes of the previous one. */
export const LOCK_EVENTS = "SELECT FROM cabinet.event e WHERE e.id = ANY ($1::int8[]) ORDER BY e.id FOR UPDATE OF e"

export interface RereadRow {
  readonly id: string
  readonly source_id: string
  readonly in_trash: boolean
  readonly payload: string
  readonly schema: string | null
  readonly body: Uint8Array | null
  readonly body_bytes: number
  readonly content_type: string | null
  readonly query: string | null
  readonly charset: string
  readonly charset_from: string
  readonly other_readings: OtherReadingsJson | null
}

/** $1: events, $2: for how many days original requests are shown. */
export const FIND = `
  SELECT e.id::text AS id, e.source_id::text AS source_id, e.deleted_at IS NOT NULL AS in_trash, e.payload::text AS payload, s.schema,
    o.body, o.body_bytes, o.content_type, o.query, o.charset, o.charset_from, o.other_readings
  FROM cabinet.event e JOIN cabinet.source s ON s.id = e.source_id LEFT JOIN ${originalOf("$2")}
  WHERE e.id = ANY ($1::int8[]) ORDER BY e.id`

/** The parameters of `slicedEvents`. JSON shows its own charset, unless some of its bytes had no meaning in it. */
export const SLICE = slicedEvents("o.charset_from <> 'json' OR o.replaced > 0")

/** $1: events, $2: their payloads. */
export const SET_PAYLOADS = `
  UPDATE cabinet.event e SET payload = g.payload::json FROM unnest($1::int8[], $2::text[]) AS g(id, payload)
  WHERE e.id = g.id`

/** $1: events, $2: charsets, $3: what decided them, $4: numbers of replaced characters, $5: other readings or nulls. */
export const SET_READINGS = `
  UPDATE cabinet.original_request o
  SET charset = g.charset, charset_from = g.charset_from, replaced = g.replaced, other_readings = g.others::json
  FROM unnest($1::int8[], $2::text[], $3::text[], $4::int8[], $5::text[]) AS g(id, charset, charset_from, replaced, others)
  JOIN cabinet.event e ON e.id = g.id
  WHERE o.id = e.original_request_id AND o.received_at = e.received_at`

/** A batch between planning and accepting, and the columns in which the accept statement reads its records. */
import type {
  AcceptRequest,
  KeptParts,
  NewEvent,
  Original,
  ReportedCause,
  StagedSlice,
} from "@data-cabinet/core/event/EventLog"
import { otherReadingsJson } from "@data-cabinet/core/event/OriginalShape"
import type { AltchaProof } from "@data-cabinet/core/proof/AltchaProof"
import type { EventVerdict } from "@data-cabinet/core/verification/Verification"
import { bool, bytea, InputColumns, int4, int8, optionalBool, text } from "../connection/InputColumns.ts"

/** An event and its request, whose position in the batch is `index`. */
export interface BatchEvent {
  readonly index: number
  readonly request: AcceptRequest
  readonly event: NewEvent
  /** True if the row cannot be inserted into its table now and is deferred. */
  readonly waits: boolean
}

export const EVENT_COLUMNS = new InputColumns<BatchEvent>({
  request: int4(({ index }) => index),
  source_id: int8(({ request }) => request.sourceId),
  version: int4(({ request }) => request.sourceVersion),
  channel: text(({ request }) => request.channel),
  history: bool(({ request }) => request.history),
  empty: bool(({ event }) => event.empty),
  fingerprint: text(({ event }) => event.fingerprint),
  payload: text(({ event }) => event.text),
  waits: bool(({ waits }) => waits),
})

/** The verdict on an event's request; only in batches with a verified source. */
export const EVENT_VERDICT_COLUMNS = new InputColumns<BatchEvent>({
  verified: optionalBool(({ request: { verdict } }) => (verdict === undefined ? null : verdict.refusal === null)),
})

/** Only in batches with spam. */
export const SPAM_COLUMNS = new InputColumns<BatchEvent>({
  spam: text(({ event }) => event.spam ?? null),
})

/** The original of the request at position `index`. */
export interface BatchOriginal {
  readonly index: number
  readonly original: Original
  readonly verdict: EventVerdict | undefined
}

/** All but `request` are columns of cabinet.original_request as well. */
export const ORIGINAL_COLUMNS = new InputColumns<BatchOriginal>({
  request: int4(({ index }) => index),
  body: bytea(({ original }) => original.body),
  body_bytes: int4(({ original }) => original.bodyBytes),
  content_type: text(({ original }) => original.contentType),
  ip: text(({ original }) => original.ip),
  referer: text(({ original }) => original.referer),
  origin: text(({ original }) => original.origin),
  user_agent: text(({ original }) => original.userAgent),
  accept_language: text(({ original }) => original.acceptLanguage),
  charset: text(({ original }) => original.charset),
  charset_from: text(({ original }) => original.charsetFrom),
  replaced: int4(({ original }) => original.replaced),
})

/** The parts of requests that sources' own settings keep; only in batches with such a source. */
export const KEPT_COLUMNS = new InputColumns<BatchOriginal>({
  headers: text(({ original: { kept } }) => (kept === undefined ? null : headersJson(kept))),
  query: text(({ original }) => original.kept?.query ?? null),
})

/** Only in batches with a request whose values were read in several charsets. */
export const OTHERS_COLUMNS = new InputColumns<BatchOriginal>({
  other_readings: text(({ original: { others } }) =>
    others === undefined ? null : JSON.stringify(otherReadingsJson(others)),
  ),
})

const headersJson = ({ headers }: KeptParts): string | null =>
  headers.length === 0 ? null : JSON.stringify(Object.fromEntries(headers.map(({ name, value }) => [name, value])))

/** The verdict on a request; only in batches with a verified source. */
export const VERDICT_COLUMNS = new InputColumns<BatchOriginal>({
  recipe: text(({ verdict }) => verdict?.recipe ?? null),
  refusal: text(({ verdict }) => verdict?.refusal ?? null),
})

/** The event at position `n` of the batch, from 1, passes the filter of this address. */
export interface BatchPassed {
  readonly n: number
  readonly addressId: number
}

export const PASSED_COLUMNS = new InputColumns<BatchPassed>({
  n: int8(({ n }) => n),
  address_id: int8(({ addressId }) => addressId),
})

/** The addresses whose filters an event passes, for a follower to write; null for those that the statement writes. */
export const QUEUED_COLUMNS = new InputColumns<ReadonlyArray<number> | null>({
  address_ids: text((ids) => (ids === null ? null : `{${ids.join(",")}}`)),
})

/** The request at position `index` is a slice of an import. */
export interface BatchSlice {
  readonly index: number
  readonly version: number
  readonly slice: StagedSlice
}

export const SLICE_COLUMNS = new InputColumns<BatchSlice>({
  request: int4(({ index }) => index),
  import_id: int8(({ slice }) => slice.importId),
  version: int4(({ version }) => version),
  first: int8(({ slice }) => slice.first),
  last: int8(({ slice }) => slice.last),
})

/** The request at position `index` is a notice with this cause. */
export interface BatchNotice {
  readonly index: number
  readonly sourceId: number
  readonly version: number
  readonly notice: ReportedCause
}

export const NOTICE_COLUMNS = new InputColumns<BatchNotice>({
  request: int4(({ index }) => index),
  source_id: int8(({ sourceId }) => sourceId),
  version: int4(({ version }) => version),
  kind: text(({ notice }) => notice.kind),
  subject: int8(({ notice }) => notice.subject),
  instance: text(({ notice }) => notice.instance),
  since: text(({ notice }) => notice.since),
  ends: bool(({ notice }) => notice.ends),
  // No address has this number.
  about: int8(({ notice }) => notice.aboutAddress ?? 0),
})

/** The request at position `index` came with this solved challenge. */
export interface BatchProof {
  readonly index: number
  readonly sourceId: number
  readonly version: number
  readonly proof: AltchaProof
}

export const PROOF_COLUMNS = new InputColumns<BatchProof>({
  request: int4(({ index }) => index),
  source_id: int8(({ sourceId }) => sourceId),
  version: int4(({ version }) => version),
  id: text(({ proof }) => proof.id),
  until: int8(({ proof }) => proof.until),
})

/** A column created for this batch, and the position `n` in it of the event that it was created for. */
export interface CreatedColumn {
  readonly sourceId: number
  readonly name: string
  readonly n: number
}

export const CREATED_COLUMNS = new InputColumns<CreatedColumn>({
  source_id: int8(({ sourceId }) => sourceId),
  name: text(({ name }) => name),
  n: int8(({ n }) => n),
})

/**
 * A source table that receives rows from the batch. `rows` is a JSON array with one object per row, whose `_event_id` is
 * the event's position in the batch, counted from 1.
 */
export interface BatchTable {
  readonly sourceId: number
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly rows: string
}

export interface Batch {
  readonly events: ReadonlyArray<BatchEvent>
  readonly originals: ReadonlyArray<BatchOriginal>
  /** Which events pass which filters; null if no source of the batch has an address with a filter. */
  readonly passed: ReadonlyArray<BatchPassed> | null
  /** For each event the addresses that are left to a follower, or null; null if nothing is left to it. */
  readonly queued: ReadonlyArray<ReadonlyArray<number> | null> | null
  /** Whether its events and originals have the optional columns. */
  readonly hasSpam: boolean
  readonly hasVerdicts: boolean
  readonly hasKept: boolean
  readonly hasOthers: boolean
  /** Whether a source of it may have deliveries that a follower writes. */
  readonly fansOut: boolean
  /** Usually empty, like the next three. */
  readonly slices: ReadonlyArray<BatchSlice>
  readonly notices: ReadonlyArray<BatchNotice>
  readonly proofs: ReadonlyArray<BatchProof>
  readonly created: ReadonlyArray<CreatedColumn>
  readonly tables: ReadonlyArray<BatchTable>
  /** The lock keys of equal bodies: one per event with a fingerprint, in order. */
  readonly bodyKeys: BigInt64Array
  /** Those keys sorted and without duplicates, so that two batches never deadlock. */
  readonly locks: ReadonlyArray<bigint>
  /** Whether no two events of the batch have the same body. */
  readonly distinct: boolean
  /** Whether each request is exactly one event and has an original request. */
  readonly single: boolean
}

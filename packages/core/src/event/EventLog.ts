/**
 * The log of accepted events. Appending is the only way to create an event: event, original request, repeat window, table
 * row and due deliveries are committed together, and the receipt is returned after the commit.
 */
import { Context, type Effect, type Result, Schema } from "effect"
import type { Deadline } from "../runtime/Deadline.ts"
import { fromResult } from "../runtime/FromResult.ts"
import type { FilteredDeliveries } from "../delivery/FilteredDeliveries.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { OtherReading } from "./OtherReadings.ts"
import type { JsonObject } from "../json/Json.ts"
import type { AltchaProof } from "../proof/AltchaProof.ts"
import type { EventVerdict } from "../verification/Verification.ts"

/** `webhook`: the intake address; `file`: an upload; `pull`: polling. */
export type Channel = "webhook" | "file" | "pull"

/** All channels. */
export const CHANNELS: ReadonlyArray<Channel> = ["webhook", "file", "pull"]

/** An event to append. */
export interface NewEvent {
  readonly payload: JsonObject
  /** The payload as `jsonText` writes it. */
  readonly text: string
  /** No field is filled. */
  readonly empty: boolean
  /** Equal for equal bodies (SHA-256 in hexadecimal); null where repeats are not detected (files, polling). */
  readonly fingerprint: string | null
  /** Why it is spam; absent if it is not. Spam has no fingerprint and no row, and is not delivered. */
  readonly spam?: SpamReason
}

/**
 * `honeypot`: a field that people leave empty was filled. `origin`: the request came from a page of another origin. The others
 * concern the proof of a person that the form demands: it is missing, wrong or expired, another event came with it, or
 * its provider did not check it.
 */
export const SPAM_REASONS = ["honeypot", "origin", "no_proof", "wrong_proof", "used_proof", "unchecked_proof"] as const
/** Why an event is spam. */
export type SpamReason = (typeof SPAM_REASONS)[number]

/** A header that a source keeps. */
export interface KeptHeader {
  /** In lower case. */
  readonly name: string
  readonly value: string
}

/** The parts of a request that a source's own settings keep. */
export interface KeptParts {
  readonly headers: ReadonlyArray<KeptHeader>
  /** The URL's query string without `?`, still percent-encoded; null if it is not kept. */
  readonly query: string | null
}

/** The request as received, stored for 90 days. Cookies and authorization never reach this type. */
export interface Original {
  /** At most the first 65,536 bytes. */
  readonly body: Uint8Array
  readonly bodyBytes: number
  readonly contentType: string | null
  readonly ip: string | null
  readonly referer: string | null
  readonly origin: string | null
  readonly userAgent: string | null
  readonly acceptLanguage: string | null
  /** The charset that the body was decoded with, the reason for it, and how many characters could not be decoded. */
  readonly charset: string
  readonly charsetFrom: string
  readonly replaced: number
  /** The values read in another charset; absent if one charset holds for all. */
  readonly others?: ReadonlyArray<OtherReading>
  /** Absent unless the source keeps more than all sources do. */
  readonly kept?: KeptParts
}

/** The staged rows from `first` to `last` (exclusive) of an import whose count must be `first`. */
export interface StagedSlice {
  readonly importId: number
  readonly first: number
  readonly last: number
}

/** What notices report: it is recorded once, however many processes find it. */
export interface ReportedCause {
  /** The kind of the notices. */
  readonly kind: string
  /** The number of the address, source, poll or import; 0 for other subjects. */
  readonly subject: number
  /** Distinguishes the occurrences for one kind and subject. */
  readonly instance: string
  /** When it began, RFC 3339; null if unknown. */
  readonly since: string | null
  /** Whether it can end and recur; otherwise its instance is unique. */
  readonly ends: boolean
  /** The address that the notice is about, and to which it is not sent; null if it is about none. */
  readonly aboutAddress: number | null
}

/** The events of one request: all of them are accepted, or none. */
export interface AcceptRequest {
  readonly sourceId: number
  readonly sourceVersion: number
  readonly channel: Channel
  readonly history: boolean
  readonly events: ReadonlyArray<NewEvent>
  readonly original: Original | null
  /**
   * Estimated bytes of memory. Not counted if absent: a caller without a client (an import, a poll) awaits each result
   * before it appends more.
   */
  readonly memory?: number
  /**
   * The import whose slice these events are. Its count advances in the same transaction; if the count is no longer at
   * `first`, nothing is accepted and the result is `SourceChanged`.
   */
  readonly staged?: StagedSlice
  /**
   * The cause of these notices, recorded in the same transaction; if it was recorded before, nothing is accepted and
   * the result is `SourceChanged`.
   */
  readonly notice?: ReportedCause
  /**
   * The solved challenge that came with the only event. It is marked as used in the same transaction; if it was used before,
   * nothing is accepted and the result is `SourceChanged`.
   */
  readonly proof?: AltchaProof
  /** Absent if no address of the source has a filter. */
  readonly filtered?: FilteredDeliveries
  /**
   * Absent if the source has no recipe, or the events belong to no request. If the sender was not verified, none of the
   * events has a fingerprint or is delivered.
   */
  readonly verdict?: EventVerdict
}

/** The proof that an event was committed. */
export interface Receipt {
  readonly id: number
  /** The first event with the same body, if this one is a repeat. */
  readonly repeatOf: number | null
  readonly empty: boolean
}

/** The source was changed, switched off or deleted after it was looked up: look it up and parse the submission again. */
export class SourceChanged extends Schema.TaggedError<SourceChanged>()("SourceChanged", {
  sourceId: Schema.Int,
}) {}

/** The receipts of a request, or why it was not accepted. */
export type Appended = Result.Result<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable>

/** Appends accepted events. Receipts are in the order of the request's events. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /**
     * Returns a result by the deadline at the latest; without one, the log applies its own. A request whose deadline
     * passes, or whose signal is aborted, before it was sent to the store is not saved.
     */
    readonly append: (request: AcceptRequest, deadline?: Deadline, signal?: AbortSignal) => Promise<Appended>
  }
>()("@data-cabinet/core/event/EventLog") {}

/** Appends as an Effect; an interruption withdraws the request. */
export const appendEvents = (
  log: EventLog["Service"],
  request: AcceptRequest,
): Effect.Effect<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable> =>
  fromResult((signal) => log.append(request, undefined, signal))

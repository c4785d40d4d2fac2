/**
 * The log of accepted events. Appending is the only way an event comes to exist: event, original request, repeat mark,
 * table row and due deliveries are committed together, and the receipt is given after the commit.
 */
import { Context, type Effect, type Result, Schema } from "effect"
import type { Deadline } from "../runtime/Deadline.ts"
import { fromResult } from "../runtime/FromResult.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { JsonObject } from "../json/Json.ts"

/** `webhook`: the intake address; `file`: an upload; `pull`: polling. */
export type Channel = "webhook" | "file" | "pull"

export const CHANNELS: ReadonlyArray<Channel> = ["webhook", "file", "pull"]

export interface NewEvent {
  readonly payload: JsonObject
  /** The payload as `jsonText` writes it. */
  readonly text: string
  /** No field is filled. */
  readonly empty: boolean
  /** What makes two bodies equal (SHA-256 in hexadecimal); null where repeats are not looked for (files, polling). */
  readonly fingerprint: string | null
}

/** The request as it came, kept for 90 days. Cookies and authorization never reach this type. */
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
  /** Which charset the body was read in, what decided it, and how many characters could not be read. */
  readonly charset: string
  readonly charsetFrom: string
  readonly replaced: number
}

/** Rows `first` to `last` (exclusive) of what an import has staged; its count of accepted rows stands at `first`. */
export interface StagedSlice {
  readonly importId: number
  readonly first: number
  readonly last: number
}

/** The events of one request: accepted together or not at all. */
export interface AcceptRequest {
  readonly sourceId: number
  readonly sourceVersion: number
  readonly channel: Channel
  readonly history: boolean
  readonly events: ReadonlyArray<NewEvent>
  readonly original: Original | null
  /**
   * About how many bytes all this takes in memory. What is not said is not counted: whoever appends without a sender (an
   * import, a poll) waits for each answer.
   */
  readonly memory?: number
  /**
   * The import that these events are a slice of. Its count moves on in the same transaction; where it does not stand at
   * `first` any more, nothing is accepted and the answer is `SourceChanged`.
   */
  readonly staged?: StagedSlice
}

export interface Receipt {
  readonly id: number
  /** The first event with the same body, when this one repeats it. */
  readonly repeatOf: number | null
  readonly empty: boolean
}

/** The source changed, was switched off or deleted since it was looked up: look it up again, and parse again. */
export class SourceChanged extends Schema.TaggedError<SourceChanged>()("SourceChanged", {
  sourceId: Schema.Int,
}) {}

export type Appended = Result.Result<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable>

/** Appends accepted events. Receipts come in the order of the request's events. */
export class EventLog extends Context.Service<
  EventLog,
  {
    /**
     * Returns a result by the deadline at the latest; without one the log has its own. A request that is past its deadline,
     * or whose signal is aborted, before it was sent to the store is not saved.
     */
    readonly append: (request: AcceptRequest, deadline?: Deadline, signal?: AbortSignal) => Promise<Appended>
  }
>()("@data-cabinet/core/event/EventLog") {}

/** Appends as an Effect, which withdraws the request when it is interrupted. */
export const appendEvents = (
  log: EventLog["Service"],
  request: AcceptRequest,
): Effect.Effect<ReadonlyArray<Receipt>, SourceChanged | StoreUnavailable> =>
  fromResult((signal) => log.append(request, undefined, signal))

/** Requests a polled URL. Like every outgoing request it connects only to checked, public addresses. */
import { Context, type Effect } from "effect"

/** A request of a polled URL. */
export interface PollRequest {
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** The validator of the last successful response, for a conditional request. */
  readonly etag: string | null
  readonly lastModified: string | null
}

/**
 * The outcome of a request, never an error: the decoded body of a complete 200, or the failure. Without either, nothing is
 * new (304, 204 or 205).
 */
export interface PollResponse {
  readonly status: number | null
  readonly peer: string | null
  readonly failure: string | null
  readonly body: Uint8Array | null
  readonly contentType: string | null
  readonly etag: string | null
  readonly lastModified: string | null
  readonly retryAfter: number | null
}

/** The largest response, as received, decoded or unpacked. */
export const MAX_POLL_BYTES = 32 * 1_048_576

/** The message in place of a request: the headers may be what authorizes it. */
export const UNREADABLE_HEADERS = "not requested: the poll's headers cannot be decrypted with CABINET_SECRET_KEY"

export class PollFetch extends Context.Service<
  PollFetch,
  { readonly fetch: (request: PollRequest) => Effect.Effect<PollResponse> }
>()("@data-cabinet/core/poll/PollFetch") {}

/** Asks a polled address. Like every request that leaves the house it goes to checked, public addresses only. */
import { Context, type Effect } from "effect"

export interface PollRequest {
  readonly url: string
  readonly headers: ReadonlyArray<readonly [name: string, value: string]>
  /** What the last good answer was marked with, for a conditional request. */
  readonly etag: string | null
  readonly lastModified: string | null
}

/** Never an error: a body where the answer was 200 and came whole, else the reason why there is none. */
export interface PollAnswer {
  readonly status: number | null
  readonly peer: string | null
  readonly failure: string | null
  readonly body: Uint8Array | null
  readonly contentType: string | null
  readonly etag: string | null
  readonly lastModified: string | null
  readonly retryAfter: number | null
}

export class PollFetch extends Context.Service<
  PollFetch,
  { readonly fetch: (request: PollRequest) => Effect.Effect<PollAnswer> }
>()("@data-cabinet/core/poll/PollFetch") {}

/** A request and its answer as plain values, whichever adapter they came in by (NodeAdapter, FetchAdapter). */
import type { Readable } from "node:stream"
import type { Context } from "effect"

export interface Request {
  /** Its name in logs and traces (see RequestId); it is on the answer, too. */
  readonly id: string
  readonly method: string
  /** Path and query, as sent. */
  readonly url: string
  /** As the client named it, with its port. */
  readonly host: string | undefined
  /** By their names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The other end of the socket; undefined without one. */
  readonly peer: string | undefined
  /** Undefined where something else has read it already. */
  readonly body: Readable | undefined
  /** What its logs and spans are made under: its id, and the span of whoever follows it, who sets that here (Observe). */
  context: Context.Context<never>
  /** Calls `leave` when the client goes away before it has its answer, until the returned function is called. */
  readonly onGone: (leave: () => void) => () => void
}

export interface Answer {
  readonly status: number
  /** By their names in lower case. The adapter adds the body's length and the request's id. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array | null
}

/** Always resolves, but for a client that has gone away (RequestGone). */
export type Handle = (request: Request) => Promise<Answer>

/** Nobody waits for the answer any more: the work was broken off, and there is none. */
export class RequestGone extends Error {
  override readonly name = "RequestGone"
}

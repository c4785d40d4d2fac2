/** A request and its response as plain values, independent of the adapter (NodeAdapter, FetchAdapter). */
import type { Readable } from "node:stream"
import type { Context } from "effect"

export interface Request {
  /** The request's name in logs and traces (see RequestId); the response also carries it. */
  readonly id: string
  readonly method: string
  /** Path and query, as sent. */
  readonly url: string
  /** As the client sent it, with the port. */
  readonly host: string | undefined
  /** Keyed by lower-case name. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The address of the socket's other end; undefined without a socket. */
  readonly peer: string | undefined
  /** The adapter's original request, for the embedding program; nothing else uses it. */
  readonly original?: unknown
  /** Undefined if other code has already read it. */
  readonly body: Readable | undefined
  /** The context of the request's logs and spans: its id, and its span if it is traced, which Observe sets here. */
  context: Context.Context<never>
  /** Calls `leave` if the client disconnects before it has its response, until the returned function is called. */
  readonly onGone: (leave: () => void) => () => void
  /** Calls `end` if the server stops while the request only waits for something, until the returned function is called. */
  readonly onStop: (end: () => void) => () => void
}

export interface Response {
  readonly status: number
  /** Keyed by lower-case name. The adapter adds the body's length, where it is known, and the request's id. */
  readonly headers: Readonly<Record<string, string>>
  /** A `Set-Cookie` header each. */
  readonly cookies?: ReadonlyArray<string>
  /** A body in pieces is sent piece by piece; a failing one leaves a broken message, never one that looks complete. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | null
  /**
   * Called once the bytes of the body have left and nothing uses them any more; never if the client disconnects before, or if a
   * framework around the server has seen them.
   */
  readonly sent?: () => void
  /** Its body does not end by itself: a stopping server ends it instead of waiting for it. */
  readonly streaming?: true
  /** How much of its time the request waited for an event instead of working. */
  readonly waitedMillis?: number
}

/** Always resolves, except for a client that has disconnected (RequestGone). */
export type Handle = (request: Request) => Promise<Response>

/** What an adapter runs. */
export interface Handler {
  readonly handle: Handle
  /** The response to a client that is still connected when the server stops. */
  readonly stopped: (request: Request) => Response
}

/** The client is gone: the work was interrupted, and no response exists. */
export class RequestGone extends Error {
  override readonly name = "RequestGone"
}

/** Whether a body is sent in pieces. */
export const isStream = (body: Response["body"]): body is AsyncIterable<Uint8Array> =>
  typeof body === "object" && body !== null && Symbol.asyncIterator in body

/** Why a request is refused, by the error codes of JSON-RPC, of the protocol and of its extension for events. */
import type { FeedError } from "../feed/FeedError.ts"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** The error codes of JSON-RPC, by kind. */
export const RPC_ERRORS = {
  parse: -32_700,
  invalid: -32_600,
  method: -32_601,
  params: -32_602,
  internal: -32_603,
  /** A header contradicts the body. */
  header: -32_020,
  /** A resource that does not exist, in the revisions with a handshake. */
  resource: -32_002,
  /** A revision that is not served. */
  version: -32_022,
  /** An event type or a subscription that does not exist. */
  missing: -32_023,
  forbidden: -32_024,
  exhausted: -32_025,
  unsupported: -32_026,
  /** A callback endpoint that does not answer the challenge. */
  callback: -32_027,
} as const

/** An error as a message; `id` is JSON text. */
export const rpcError = (kind: keyof typeof RPC_ERRORS, message: string, id = "null", data?: object): string =>
  `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: RPC_ERRORS[kind], message, data })}}`

/** `data` is what a client may branch on. */
export interface ProtocolError {
  readonly kind: keyof typeof RPC_ERRORS
  readonly message: string
  readonly data?: object
}

/** The refusal of a request whose parameters are wrong. */
export const badParams = (message: string): ProtocolError => ({ kind: "params", message })

/** The refusal while the store is unavailable. */
export const unavailable: ProtocolError = { kind: "internal", message: "The database does not respond. Try again." }

/** An unknown name, or one that this reader may not know. */
export const noSuchEventType = (shownName: string): ProtocolError => ({
  kind: "missing",
  message: `No event type is named ${shownName}. events/list has the names.`,
  data: { kind: "event" },
})

/** The refusal for an error of the store or the feed. */
export const protocolErrorOf = (error: FeedError | StoreUnavailable | ProtocolError): ProtocolError => {
  if (error instanceof StoreUnavailable) return unavailable
  if ("kind" in error) return error
  if (error.code !== "no_such_source") return badParams(error.message)
  return { kind: "missing", message: "The source of this event type no longer exists.", data: { kind: "event" } }
}

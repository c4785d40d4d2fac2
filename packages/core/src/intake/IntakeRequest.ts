/** A submission as a request to `Intake`, and the result that its sender receives. */
import type { Receipt } from "../event/EventLog.ts"
import type { HandshakeAnswer } from "../verification/Handshake.ts"
import type { RequestHeaders } from "../verification/RequestFields.ts"
import type { IntakeSource } from "../source/Source.ts"
import type { Call } from "../runtime/AbortableCall.ts"

/** The metadata of a request that is stored besides its body. Cookies and authorization do not belong here. */
export interface Sender {
  /** The header as sent: it also determines how the body is read. */
  readonly contentType: string | undefined
  readonly ip: string | null
  readonly referer: string | null
  readonly origin: string | null
  readonly userAgent: string | null
  readonly acceptLanguage: string | null
}

export interface IntakeRequest extends Call {
  /** As returned by `admit`. */
  readonly source: IntakeSource
  /** The secret part of the intake address: needed to look the source up again if it changes meanwhile. */
  readonly secret: string
  /** The body with its content encoding removed; within the size limit. */
  readonly body: Uint8Array
  /** The bytes as received, if their content encoding was removed although no header named it: a sender may have signed these. */
  readonly received?: Uint8Array
  /** Why the content encoding could not be removed, in words; `body` then holds the bytes as received. Otherwise null. */
  readonly undecodable: string | null
  /** The URL's query string without `?`, still percent-encoded. */
  readonly query: string
  readonly sender: Sender
  /**
   * The address under which the cabinet is known, without a trailing slash. The text that some senders sign begins with
   * it.
   */
  readonly baseUrl: string
  /** All headers; only those that the source names are stored. */
  readonly headers: RequestHeaders
}

/** Why a body was stored as received and its sender got an error. */
export type IntakeRefusalError = "bad_json" | "not_an_object" | "bad_encoding"

/**
 * The result of an accepted request: one event, the events of a batch in their order, or a body that did not parse and
 * was stored in one event regardless. `handshake`: a provider's challenge, of which nothing is stored. `thanksUrl` is
 * the source's own thank-you page.
 */
export type IntakeResult =
  | { readonly kind: "object"; readonly receipt: Receipt; readonly thanksUrl: string | null }
  | { readonly kind: "handshake"; readonly answer: HandshakeAnswer }
  | { readonly kind: "batch"; readonly receipts: ReadonlyArray<Receipt> }
  | {
      readonly kind: "refused"
      readonly error: IntakeRefusalError
      readonly detail: string
      readonly receipt: Receipt
    }

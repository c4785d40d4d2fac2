/** One submission on its way in, and what its sender is told. */
import type { Receipt } from "../event/EventLog.ts"
import type { Call } from "../runtime/Call.ts"
import type { IntakeSource } from "../source/Source.ts"

/** What is kept of a request beside its body. Cookies and authorization have no place here. */
export interface Sender {
  /** The header as sent: it also says how the body is to be read. */
  readonly contentType: string | undefined
  readonly ip: string | null
  readonly referer: string | null
  readonly origin: string | null
  readonly userAgent: string | null
  readonly acceptLanguage: string | null
}

export interface IntakeRequest extends Call {
  /** As `admit` gave it. */
  readonly source: IntakeSource
  /** The secret part of the address: needed once more when the source changes meanwhile. */
  readonly secret: string
  /** The body after its content encoding was undone; within the size limit. */
  readonly body: Uint8Array
  /** Why the content encoding could not be undone, in words; `body` then holds the bytes as received. Else null. */
  readonly undecodable: string | null
  /** The address's query string without `?`, escapes untouched. */
  readonly query: string
  readonly sender: Sender
}

/** Why a body was kept as it came and its sender told so. */
export type IntakeRefusalError = "bad_json" | "not_an_object" | "bad_encoding"

/**
 * What was accepted: one event, the events of a batch in its order, or a body that did not parse and was kept in one event
 * all the same. `thanksUrl` is the source's own thank-you page.
 */
export type IntakeAnswer =
  | { readonly kind: "object"; readonly receipt: Receipt; readonly thanksUrl: string | null }
  | { readonly kind: "batch"; readonly receipts: ReadonlyArray<Receipt> }
  | {
      readonly kind: "refused"
      readonly error: IntakeRefusalError
      readonly detail: string
      readonly receipt: Receipt
    }

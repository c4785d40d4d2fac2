/** Why an outgoing request got no response. */
import { Schema } from "effect"

/**
 * The message explains it in words, for the log and for the owner. `not_public` and `name_not_found` mean that no socket
 * was opened; `peer` is the address of the socket, if there was one.
 */
export class OutgoingError extends Schema.TaggedError<OutgoingError>()("OutgoingError", {
  code: Schema.Literals(["bad_url", "not_public", "name_not_found", "no_connection", "timeout", "bad_response"]),
  message: Schema.String,
  peer: Schema.NullOr(Schema.String),
}) {}

const CERTIFICATE = /^(CERT_|ERR_TLS_CERT|DEPTH_ZERO_|SELF_SIGNED_|UNABLE_TO_|HOSTNAME_MISMATCH|INVALID_CA)/

/** The peer's alert about the client certificate, or its absence, that ended the handshake. */
const ALERTS: Readonly<Record<string, string>> = {
  CERTIFICATE_REQUIRED: "the receiver demands a client certificate",
  BAD_CERTIFICATE: "the receiver refused the client certificate: it finds it damaged, or its signature wrong",
  UNSUPPORTED_CERTIFICATE: "the receiver refused the client certificate: it is of a kind that it does not accept",
  CERTIFICATE_REVOKED: "the receiver refused the client certificate: it is revoked",
  CERTIFICATE_EXPIRED: "the receiver refused the client certificate: it has expired",
  CERTIFICATE_UNKNOWN: "the receiver refused the client certificate",
  UNKNOWN_CA: "the receiver refused the client certificate: it does not know the authority that issued it",
  ACCESS_DENIED: "the receiver refused the client certificate: it has no access",
}

/** OpenSSL names an alert after the version of TLS that introduced it. */
const alertIn = (code: string): string | undefined =>
  ALERTS[/^ERR_SSL_[A-Z0-9/]+_ALERT_([A-Z_]+)$/.exec(code)?.[1] ?? ""]

/** Many servers end a connection without a word when they do not accept its client certificate. */
const PERHAPS = "; perhaps the receiver does not accept the client certificate"

const text = (error: unknown): { readonly code: string; readonly message: string } => {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  return { code: typeof code === "string" ? code : "", message: typeof message === "string" ? message : String(error) }
}

/**
 * Translates an error of Node or of the HTTP parser into words. `identifies`: of the first request of a connection with a client
 * certificate, which the other side judges then.
 */
export const describe = (error: unknown, peer: string | null, identifies = false): OutgoingError => {
  const first = error instanceof AggregateError && error.errors.length > 0 ? error.errors[0] : error
  const { code, message } = text(first)
  const parser = first instanceof Error && first.name === "HTTPParserError"
  const perhaps = identifies && peer !== null ? PERHAPS : ""
  const say = (kind: OutgoingError["code"], words: string) => new OutgoingError({ code: kind, message: words, peer })
  if (code === "ECONNREFUSED") return say("no_connection", "the connection was refused")
  if (code === "ECONNRESET" || code === "EPIPE") return say("no_connection", `the connection was reset${perhaps}`)
  if (code === "UND_ERR_SOCKET") {
    return say("no_connection", `the connection was closed before a response arrived${perhaps}`)
  }
  if (code === "UND_ERR_HEADERS_OVERFLOW") return say("bad_response", "the headers of the response are too large")
  if (CERTIFICATE.test(code)) return say("no_connection", `the certificate was rejected: ${message}`)
  const alert = alertIn(code)
  if (alert !== undefined) return say("no_connection", alert)
  if (code === "EPROTO" || code.startsWith("ERR_SSL") || code.startsWith("ERR_TLS"))
    return say("no_connection", "the TLS handshake failed")
  if (parser || code === "UND_ERR_RES_CONTENT_LENGTH_MISMATCH") {
    return say("bad_response", `the response is not valid HTTP: ${message}`)
  }
  if (/^E[A-Z]+$/.test(code)) return say("no_connection", `cannot connect (${code})`)
  return say("bad_response", message)
}

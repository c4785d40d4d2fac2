/**
 * Why an attempt failed, from what the log keeps of it: a code with its values, of which each language makes a
 * sentence.
 *
 * The log keeps a failure as a text in English. The patterns below match the texts with which attempts are logged.
 */
import type { Outcome } from "./Attempt.ts"

/** Reasons without values. */
type PlainCode =
  | "connection_refused"
  | "connection_ended"
  | "client_certificate_demanded"
  | "client_certificate_refused"
  | "tls_failed"
  | "not_public"
  | "not_decrypted"
  | "worker_ended"
  | "service_stopped"

/** A reason's code, and the values that its sentence names. */
export type FailureReason =
  | { readonly code: "refused" | "server_error" | "unexpected_status"; readonly status: number; readonly said: string }
  | { readonly code: "redirect"; readonly status: number; readonly target: string }
  | { readonly code: "no_response" | "no_connection" | "name_servers_silent"; readonly seconds: string }
  | { readonly code: "name_unknown"; readonly name: string }
  | { readonly code: "certificate_rejected" | "bad_response" | "skipped" | "other"; readonly detail: string }
  | { readonly code: PlainCode }

/** What a reason is made of. */
export interface FailedAttempt extends Pick<Outcome, "status" | "failure"> {
  readonly responseBody?: string | null
}

/** The most characters of a response that a sentence quotes. */
const MAX_SAID = 160

/** Where APIs commonly put the words of an error. */
const MESSAGE_KEYS = ["message", "error_description", "detail", "title", "error", "errors", "reason", "description"]

const messageIn = (value: unknown, depth = 0): string => {
  if (typeof value === "string") return value
  if (typeof value !== "object" || value === null || depth > 3) return ""
  const inside = Array.isArray(value)
    ? value.slice(0, 1)
    : MESSAGE_KEYS.filter((key) => Object.hasOwn(value, key)).map((key) => (value as Record<string, unknown>)[key])
  return inside.map((one) => messageIn(one, depth + 1)).find((text) => text !== "") ?? ""
}

/** The words in which a receiver explains itself; empty for a page or for JSON without any. */
export const saidIn = (body: string | null | undefined): string => {
  const text = (body ?? "").trim()
  let words = text
  if (/^[{["]/.test(text)) {
    try {
      words = messageIn(JSON.parse(text))
    } catch {
      // Cut off: only its beginning is kept.
      words = ""
    }
  } else if (text.startsWith("<")) words = ""
  const line = words.replace(/[\s\p{C}]+/gu, " ").trim()
  const letters = Array.from(line)
  return letters.length > MAX_SAID ? `${letters.slice(0, MAX_SAID).join("").trimEnd()}…` : line
}

type Pattern = readonly [pattern: RegExp, reason: (groups: ReadonlyArray<string>) => FailureReason]

const plain = (code: PlainCode) => () => ({ code })

const PATTERNS: ReadonlyArray<Pattern> = [
  [/^no response within ([\d.]+) s$/, ([seconds = ""]) => ({ code: "no_response", seconds })],
  [/^no connection within ([\d.]+) s$/, ([seconds = ""]) => ({ code: "no_connection", seconds })],
  [
    /^the name servers did not respond for \S+(?: within ([\d.]+) s)?$/,
    ([seconds = ""]) => ({ code: "name_servers_silent", seconds }),
  ],
  [/^the name (\S+) has (?:no address|\d+ addresses)/, ([name = ""]) => ({ code: "name_unknown", name })],
  [/^the connection was refused$/, plain("connection_refused")],
  [/^the connection was (?:reset|closed)/, plain("connection_ended")],
  [/^the certificate was rejected: (.*)$/s, ([detail = ""]) => ({ code: "certificate_rejected", detail })],
  [/^the receiver demands a client certificate$/, plain("client_certificate_demanded")],
  [/^the receiver refused the client certificate/, plain("client_certificate_refused")],
  [/^the TLS handshake failed$/, plain("tls_failed")],
  [/ is not a public address: /, plain("not_public")],
  [/^the response is not valid HTTP: (.*)$/s, ([detail = ""]) => ({ code: "bad_response", detail })],
  [/^(the headers of the response are too large)$/, ([detail = ""]) => ({ code: "bad_response", detail })],
  [/^skipped: (.*)$/s, ([detail = ""]) => ({ code: "skipped", detail })],
  [/^not sent: .* cannot be decrypted/, plain("not_decrypted")],
  [/^the worker ended before/, plain("worker_ended")],
  [/^the service was stopped before/, plain("service_stopped")],
]

const REDIRECTED = ", a redirect to "
const NOT_FOLLOWED = "; redirects are not followed"

/** Where a redirect would have led; null if the response was not one. */
const redirectIn = (failure: string): string | null => {
  const at = failure.indexOf(REDIRECTED)
  return at !== -1 && failure.endsWith(NOT_FOLLOWED)
    ? failure.slice(at + REDIRECTED.length, -NOT_FOLLOWED.length)
    : null
}

const byStatus = (status: number, { failure, responseBody }: FailedAttempt): FailureReason => {
  const target = redirectIn(failure ?? "")
  if (target !== null) return { code: "redirect", status, target }
  const code = status >= 500 ? "server_error" : status >= 400 ? "refused" : "unexpected_status"
  return { code, status, said: saidIn(responseBody) }
}

/** Null for an attempt that was delivered. */
export const failureReason = (attempt: FailedAttempt): FailureReason | null => {
  const { status, failure } = attempt
  if (status !== null) return status >= 200 && status <= 299 ? null : byStatus(status, attempt)
  for (const [pattern, reason] of PATTERNS) {
    const found = pattern.exec(failure ?? "")
    if (found !== null) return reason(found.slice(1))
  }
  return { code: "other", detail: failure ?? "" }
}

/** A sentence for each code. */
export type ReasonWords = {
  readonly [Code in FailureReason["code"]]: (reason: FailureReason & { readonly code: Code }) => string
}

const quoted = (said: string): string => (said === "" ? "." : `: “${said}”`)

/** English. */
export const REASON_WORDS: ReasonWords = {
  refused: ({ status, said }) => `The receiver refused it with ${status}${quoted(said)}`,
  server_error: ({ status, said }) => `The receiver failed with ${status}${quoted(said)}`,
  unexpected_status: ({ status, said }) =>
    `The receiver responded with ${status}, which is not a success${quoted(said)}`,
  redirect: ({ status, target }) => `The receiver redirected it (${status}) to ${target}. Redirects are not followed.`,
  no_response: ({ seconds }) => `No answer within ${seconds} s.`,
  no_connection: ({ seconds }) => `No connection within ${seconds} s.`,
  name_servers_silent: () => "The name servers did not respond.",
  name_unknown: ({ name }) => `The name ${name} did not resolve.`,
  certificate_rejected: ({ detail }) => `The certificate of the receiver was rejected: ${detail}.`,
  bad_response: ({ detail }) => `The response was not valid HTTP: ${detail}.`,
  skipped: ({ detail }) => `It was skipped: ${detail}`,
  other: ({ detail }) => (detail === "" ? "There was no answer." : `It was not delivered: ${detail}.`),
  connection_refused: () => "The receiver refused the connection.",
  connection_ended: () => "The receiver ended the connection without an answer.",
  client_certificate_demanded: () => "The receiver demands a client certificate.",
  client_certificate_refused: () => "The receiver refused the client certificate.",
  tls_failed: () => "The TLS handshake failed.",
  not_public: () => "The address leads to a network that is not public.",
  not_decrypted: () => "It was not sent: CABINET_SECRET_KEY does not decrypt a secret of the address.",
  worker_ended: () => "The worker ended before it recorded the outcome. The request may have been sent.",
  service_stopped: () => "The service was stopped before a response arrived.",
}

/** Whether a person skipped the event, so that nothing was sent. */
export const isSkipped = (attempt: FailedAttempt): boolean => failureReason(attempt)?.code === "skipped"

/** The sentence of a reason in the language of `words`. */
export const reasonText = (reason: FailureReason, words: ReasonWords = REASON_WORDS): string =>
  (words[reason.code] as (given: FailureReason) => string)(reason)

/** Why an attempt failed, in English; null if it was delivered. */
export const reasonOf = (attempt: FailedAttempt): string | null => {
  const reason = failureReason(attempt)
  return reason === null ? null : reasonText(reason)
}

/**
 * The challenge of a callback endpoint before the first delivery: it proves that the endpoint wants what an agent has
 * subscribed it to.
 */
import { randomBytes, timingSafeEqual } from "node:crypto"
import { Clock, Effect } from "effect"
import type { Outcome } from "../delivery/Attempt.ts"
import type { Courier } from "../delivery/Courier.ts"
import { agentHeaders } from "../delivery/Signature.ts"

/** How long an endpoint may take to answer. */
export const CHALLENGE_MILLIS = 5_000

/** Why an endpoint is refused. It never quotes the response, which could reveal what a chosen address serves. */
export type CallbackReason =
  | "connection_refused"
  | "timeout"
  | "tls_error"
  | "http_4xx"
  | "http_5xx"
  | "challenge_failed"

const echoed = (body: string | null): string | null => {
  try {
    const { challenge } = JSON.parse(body ?? "") as { readonly challenge?: unknown }
    return typeof challenge === "string" ? challenge : null
  } catch {
    return null
  }
}

const isSame = (sent: string, received: string | null): boolean => {
  const [expected, actual] = [Buffer.from(sent), Buffer.from(received ?? "")]
  return expected.length === actual.length && timingSafeEqual(expected, actual)
}

/** The category of a request that failed; null for a response that is not an error. */
export const categoryOf = ({ status, failure }: Pick<Outcome, "status" | "failure">): CallbackReason | null => {
  if (status === null) {
    if (/certificate|tls|ssl/i.test(failure ?? "")) return "tls_error"
    return /\bwithin [0-9.]+ s\b/.test(failure ?? "") ? "timeout" : "connection_refused"
  }
  if (status >= 500) return "http_5xx"
  return status >= 400 ? "http_4xx" : null
}

/** Null if the endpoint has answered the challenge. */
export const reasonOf = (outcome: Outcome, challenge: string): CallbackReason | null => {
  const { status, responseBody } = outcome
  const category = categoryOf(outcome)
  if (status === null || category !== null) return category
  return status >= 200 && status <= 299 && isSame(challenge, echoed(responseBody)) ? null : "challenge_failed"
}

/** Sends a challenge; null if the endpoint has echoed it. */
export const challengeCallback = (courier: Courier["Service"], url: string, secret: string, subscription: string) =>
  Effect.flatMap(Clock.currentTimeMillis, (now) => {
    const challenge = randomBytes(24).toString("base64url")
    const body = Buffer.from(JSON.stringify({ type: "verification", challenge }))
    const id = `msg_verification_${randomBytes(12).toString("hex")}`
    const headers = agentHeaders({ id, subscription, secrets: [secret], body, seconds: Math.floor(now / 1000) })
    const sent = courier.send({ method: "POST", url, headers, timeoutMillis: CHALLENGE_MILLIS, body })
    return Effect.map(sent, (outcome) => reasonOf(outcome, challenge))
  })

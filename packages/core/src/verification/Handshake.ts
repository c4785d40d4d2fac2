/**
 * What providers ask of an address before they send to it, and the answer. It is no event. Nothing is answered that would sign or
 * send back what anybody wants: the question itself must be signed, and what is put into an answer is short and of few letters.
 */
import { createHmac } from "node:crypto"
import type { SignedRequest } from "./VerifySender.ts"
import { verifySender } from "./VerifySender.ts"
import { RECIPES } from "./Recipes.ts"
import type { IntakeVerification } from "./Verification.ts"

export interface HandshakeAnswer {
  readonly contentType: "text/plain; charset=utf-8" | "application/json"
  readonly text: string
}

/** Longer bodies are no question of a provider. */
const MAX_QUESTION_BYTES = 8192

/** What is sent back as it came. */
const MAX_ECHO_BYTES = 1024

/** What is signed for whoever asks: no text that could stand for a signed body. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/**
 * The answer to a request whose signature holds, if it asks for one: Slack's `url_verification` and Zoom's
 * `endpoint.url_validation`. Null otherwise.
 */
export const signedHandshake = (
  { recipe, secrets }: IntakeVerification,
  request: SignedRequest,
  now: number,
): HandshakeAnswer | null => {
  if ((recipe !== "slack" && recipe !== "zoom") || request.body.byteLength > MAX_QUESTION_BYTES) return null
  const question = objectIn(request.body)
  if (question === null) return null
  if (recipe === "slack") return question["type"] === "url_verification" ? echo(question["challenge"]) : null
  if (question["event"] !== "endpoint.url_validation") return null
  const token = (question["payload"] as Partial<Record<string, unknown>> | null | undefined)?.["plainToken"]
  // During a rotation, with the secret that the question was signed with.
  const secret = secrets?.find((one) => verifySender(RECIPES.zoom, request, { secrets: [one], now }).verified)
  if (typeof token !== "string" || !TOKEN.test(token) || secret === undefined) return null
  const encryptedToken = createHmac("sha256", secret).update(token).digest("hex")
  return { contentType: "application/json", text: JSON.stringify({ plainToken: token, encryptedToken }) }
}

const objectIn = (body: Uint8Array): Partial<Record<string, unknown>> | null => {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(body).toString("utf8"))
    return typeof parsed === "object" && parsed !== null ? parsed : null
  } catch {
    return null
  }
}

// eslint-disable-next-line no-control-regex -- none of them is in a challenge
const CONTROL = /[\0-\x1f\x7f]/

const echo = (text: unknown): HandshakeAnswer | null =>
  typeof text === "string" && text !== "" && Buffer.byteLength(text) <= MAX_ECHO_BYTES && !CONTROL.test(text)
    ? { contentType: "text/plain; charset=utf-8", text }
    : null

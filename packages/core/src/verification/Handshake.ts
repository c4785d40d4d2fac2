/**
 * The challenges that providers send to an address before their events, and the responses. A challenge is not an event.
 * No response signs or echoes an arbitrary text: the challenge itself must be signed, and the echoed part is short, of
 * a small alphabet.
 */
import { createHmac } from "node:crypto"
import type { ChallengeProvider } from "./Challenge.ts"
import { equalTexts, isForm, type SignedRequest, verifySender } from "./VerifySender.ts"
import { RECIPES } from "./Recipes.ts"
import { confirmationIn } from "./SnsMessage.ts"
import type { IntakeVerification } from "./Verification.ts"

/** The response to a challenge. */
export interface HandshakeAnswer {
  readonly contentType: "text/plain; charset=utf-8" | "application/json"
  readonly text: string
}

const OK: HandshakeAnswer = { contentType: "application/json", text: '{"ok":true}' }

/** Longer bodies are not a provider's challenge. */
const MAX_QUESTION_BYTES = 8192

/** An echo of the received text. */
const MAX_ECHO_BYTES = 1024

/** A token that is signed for any caller: never a text that could pass for a signed body. */
const TOKEN = /^[A-Za-z0-9_-]{1,128}$/

/**
 * The response to a challenge whose signature is valid: Slack's `url_verification` and Zoom's
 * `endpoint.url_validation`. Null otherwise.
 */
export const signedHandshake = (
  { recipe, secrets }: IntakeVerification,
  request: SignedRequest,
  now: number,
): HandshakeAnswer | null => {
  if (recipe === "sns") return confirmationIn(request.body) === null ? null : OK
  if ((recipe !== "slack" && recipe !== "zoom") || request.body.byteLength > MAX_QUESTION_BYTES) return null
  const question = objectIn(request.body)
  if (question === null) return null
  if (recipe === "slack") return question["type"] === "url_verification" ? echo(question["challenge"]) : null
  if (question["event"] !== "endpoint.url_validation") return null
  const token = (question["payload"] as Partial<Record<string, unknown>> | null | undefined)?.["plainToken"]
  // During a rotation, use the secret that signed the challenge.
  const secret = secrets?.find((one) => verifySender(RECIPES.zoom, request, { secrets: [one], now }).verified)
  if (typeof token !== "string" || !TOKEN.test(token) || secret === undefined) return null
  const encryptedToken = createHmac("sha256", secret).update(token).digest("hex")
  return { contentType: "application/json", text: JSON.stringify({ plainToken: token, encryptedToken }) }
}

/** WooCommerce's signature header, which also identifies it in sources with the recipe `hmac`. */
const SHOP_SIGNATURE = RECIPES.woocommerce.signature.headers[0]!

/** The whole body of WooCommerce's ping: a form with only the number of the webhook. */
const SHOP_PING = /^webhook_id=[0-9]{1,20}$/

/** The length of the longest ping. */
const MAX_PING_BYTES = 31

/**
 * The response to the unsigned ping that WooCommerce sends when a webhook is saved: it disables the webhook without a
 * 200. The ping says nothing that an event could hold. Null for any other request, and for a signed one.
 */
export const unsignedPing = (
  { recipe, hmac }: Pick<IntakeVerification, "recipe" | "hmac">,
  { headers, body }: Pick<SignedRequest, "headers" | "body">,
): HandshakeAnswer | null => {
  if (body.byteLength > MAX_PING_BYTES) return null
  const isShop = recipe === "woocommerce" || hmac?.header?.toLowerCase() === SHOP_SIGNATURE
  if (!isShop || headers[SHOP_SIGNATURE] !== undefined || !isForm(headers)) return null
  return SHOP_PING.test(Buffer.from(body).toString("latin1")) ? OK : null
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

/** Whether a query may be a provider's challenge: any other GET is refused without a lookup. */
export const mayBeChallenge = (query: string): boolean => /(?:^|&)(?:hub\.challenge|crc_token|challenge)=/.test(query)

/**
 * The response of a source that answers this provider, to a GET with this query; null if it is not that provider's
 * challenge.
 */
export const answerByGet = (provider: ChallengeProvider, secret: string, query: string): HandshakeAnswer | null => {
  const params = new URLSearchParams(query)
  switch (provider) {
    case "meta":
      return params.get("hub.mode") === "subscribe" && equalTexts(params.get("hub.verify_token") ?? "", secret)
        ? echo(params.get("hub.challenge"))
        : null
    case "x":
      return crcOf(secret, params.get("crc_token") ?? "")
    case "dropbox":
      return echo(params.get("challenge"))
    case "graph":
      return null
  }
}

const crcOf = (secret: string, token: string): HandshakeAnswer | null => {
  if (!TOKEN.test(token)) return null
  const digest = createHmac("sha256", secret).update(token).digest("base64")
  return { contentType: "application/json", text: JSON.stringify({ response_token: `sha256=${digest}` }) }
}

/** The same for a POST: Microsoft Graph's has a token in its query, and no body. */
export const answerByPost = (provider: ChallengeProvider, query: string, body: Uint8Array): HandshakeAnswer | null =>
  provider === "graph" && body.byteLength === 0 ? echo(new URLSearchParams(query).get("validationToken")) : null

import { createHmac } from "node:crypto"
import {
  answerByGet,
  answerByPost,
  type HandshakeAnswer,
  mayBeChallenge,
  signedHandshake,
  unsignedPing,
} from "@data-cabinet/core/verification/Handshake"
import type { RecipeName } from "@data-cabinet/core/verification/Recipes"
import type { SignedRequest } from "@data-cabinet/core/verification/VerifySender"
import { describe, expect, it } from "vitest"
import { HMAC } from "./exampleVerification.ts"

const NOW = 1_614_265_330
const echoed = (text: string): HandshakeAnswer => ({ contentType: "text/plain; charset=utf-8", text })
const macOf = (text: string, key = "hush") => createHmac("sha256", key).update(text)

/** The answer to this body, signed as Zoom signs. */
const answer = (recipe: RecipeName, body: string, secrets: ReadonlyArray<string> | null = ["hush"]) => {
  const headers = {
    "x-zm-request-timestamp": String(NOW),
    "x-zm-signature": `v0=${macOf(`v0:${NOW}:${body}`).digest("hex")}`,
  }
  const request: SignedRequest = { headers, body: Buffer.from(body), url: "https://data.example/webhook/x" }
  return signedHandshake({ recipe, mode: "reject", hmac: null, secrets }, request, NOW)
}

const slack = (challenge: unknown, type = "url_verification") => JSON.stringify({ type, challenge })
const zoom = (plainToken: unknown, event = "endpoint.url_validation") =>
  JSON.stringify({ event, payload: { plainToken } })

describe("signedHandshake", () => {
  it("echoes Slack's challenge, unless it is long, empty or has control characters", () => {
    expect(answer("slack", slack("3eZbrw1aB"))).toEqual(echoed("3eZbrw1aB"))
    expect(answer("slack", slack("x".repeat(1_024)))).toEqual(echoed("x".repeat(1_024)))
    for (const challenge of [
      "",
      "x".repeat(1_025),
      "é".repeat(513),
      "a\nb",
      "a\u007f",
      "\u001f",
      7,
      null,
      undefined,
      {},
    ])
      expect(answer("slack", slack(challenge))).toBeNull()
    expect(answer("slack", slack("3eZbrw1aB", "event_callback"))).toBeNull()
  })

  it("signs Zoom's token with the secret that signed the challenge", () => {
    const text = JSON.stringify({
      plainToken: "qgg8vlvZRS6UYooatFL8Aw",
      encryptedToken: macOf("qgg8vlvZRS6UYooatFL8Aw").digest("hex"),
    })
    const token = zoom("qgg8vlvZRS6UYooatFL8Aw")
    for (const secrets of [["hush"], ["other", "hush"], ["hush", "other"]])
      expect(answer("zoom", token, secrets)).toEqual({ contentType: "application/json", text })
    for (const secrets of [["other"], [], null]) expect(answer("zoom", token, secrets)).toBeNull()
  })

  it("signs no other text for Zoom", () => {
    for (const token of ["", "x".repeat(129), "v0:1:{}", "a b", "a\n", "{}", 7, null, undefined])
      expect(answer("zoom", zoom(token))).toBeNull()
    expect(answer("zoom", zoom("x".repeat(128)))).not.toBeNull()
    expect(answer("zoom", zoom("abc", "meeting.started"))).toBeNull()
    for (const payload of [null, undefined, {}])
      expect(answer("zoom", JSON.stringify({ event: "endpoint.url_validation", payload }))).toBeNull()
  })

  it("ignores long, malformed and non-object bodies, and those of other senders", () => {
    const padded = (bytes: number) => slack("abc").padEnd(bytes)
    expect(answer("slack", padded(8_192))).toEqual(echoed("abc"))
    expect(answer("slack", padded(8_193))).toBeNull()
    for (const body of ["", "null", "7", '"url_verification"', "{"]) {
      expect(answer("slack", body)).toBeNull()
      expect(answer("zoom", body)).toBeNull()
    }
    for (const recipe of ["github", "hmac", "stripe"] as const) {
      expect(answer(recipe, slack("abc"))).toBeNull()
      expect(answer(recipe, zoom("abc"))).toBeNull()
    }
    expect(answer("slack", zoom("abc"))).toBeNull()
    expect(answer("zoom", slack("abc"))).toBeNull()
  })
})

describe("mayBeChallenge", () => {
  it("is true for a query with a provider's parameter in any position", () => {
    for (const query of ["hub.challenge=1", "a=1&crc_token=x", "challenge=", "a&challenge=1&b"])
      expect(mayBeChallenge(query)).toBe(true)
    for (const query of ["", "a=1", "mychallenge=1", "challenge", "hubXchallenge=1", "a=challenge"])
      expect(mayBeChallenge(query)).toBe(false)
  })
})

describe("answerByGet", () => {
  it("answers Meta's challenge if it has the verify token", () => {
    const query = (mode: string, token: string) => `hub.mode=${mode}&hub.challenge=1158201444&hub.verify_token=${token}`
    expect(answerByGet("meta", "hush", query("subscribe", "hush"))).toEqual(echoed("1158201444"))
    expect(answerByGet("meta", "hush", query("subscribe", "hush2"))).toBeNull()
    expect(answerByGet("meta", "hush", query("unsubscribe", "hush"))).toBeNull()
    expect(answerByGet("meta", "hush", "hub.mode=subscribe&hub.challenge=1")).toBeNull()
    expect(answerByGet("meta", "hush", "hub.mode=subscribe&hub.verify_token=hush")).toBeNull()
  })

  it("signs X's token, and no other text", () => {
    const text = JSON.stringify({ response_token: `sha256=${macOf("challenge_string").digest("base64")}` })
    expect(answerByGet("x", "hush", "crc_token=challenge_string")).toEqual({ contentType: "application/json", text })
    for (const query of ["", "crc_token=", "crc_token=a.b", "crc_token=a%0A", `crc_token=${"x".repeat(129)}`])
      expect(answerByGet("x", "hush", query)).toBeNull()
  })

  it("echoes Dropbox's challenge, and answers no GET for Graph, which sends a POST", () => {
    expect(answerByGet("dropbox", "", "challenge=a%20b")).toEqual(echoed("a b"))
    expect(answerByGet("dropbox", "", "crc_token=a")).toBeNull()
    expect(answerByGet("graph", "", "validationToken=a&challenge=a")).toBeNull()
  })
})

describe("answerByPost", () => {
  it("echoes Graph's token if the request has no body, and answers no other provider", () => {
    const none = new Uint8Array()
    expect(answerByPost("graph", "validationToken=Validation%3A%20Testing", none)).toEqual(
      echoed("Validation: Testing"),
    )
    expect(answerByPost("graph", "validationToken=a", Buffer.from("{}"))).toBeNull()
    expect(answerByPost("graph", "challenge=a", none)).toBeNull()
    for (const provider of ["meta", "x", "dropbox"] as const)
      expect(answerByPost(provider, "validationToken=a&challenge=a&crc_token=a", none)).toBeNull()
  })
})

describe("unsignedPing", () => {
  const FORM = { "content-type": "application/x-www-form-urlencoded" }
  const shop = { recipe: "woocommerce", hmac: null } as const
  const ping = (
    body: string,
    headers: SignedRequest["headers"] = FORM,
    of: Parameters<typeof unsignedPing>[0] = shop,
  ) => unsignedPing(of, { headers, body: Buffer.from(body) })
  const ok: HandshakeAnswer = { contentType: "application/json", text: '{"ok":true}' }

  it("answers a shop's ping, a form with only the number of its webhook", () => {
    for (const body of ["webhook_id=5", "webhook_id=0", "webhook_id=18446744073709551615"])
      expect(ping(body)).toEqual(ok)
    for (const type of ["application/x-www-form-urlencoded; charset=UTF-8", " APPLICATION/X-WWW-FORM-URLENCODED"])
      expect(ping("webhook_id=5", { "content-type": type })).toEqual(ok)
  })

  it("answers for the recipe hmac if its header is the shop's", () => {
    const signs = { ...HMAC.hmac!, header: "X-WC-Webhook-Signature" }
    expect(ping("webhook_id=5", FORM, { recipe: "hmac", hmac: signs })).toEqual(ok)
    expect(ping("webhook_id=5", FORM, { recipe: "hmac", hmac: { ...signs, header: "X-Signature" } })).toBeNull()
  })

  it.each([
    "",
    "webhook_id",
    "webhook_id=",
    "webhook_id=5\n",
    "webhook_id=5&a=1",
    "a=1&webhook_id=5",
    "webhook_id=5&webhook_id=6",
    "webhook_id=-5",
    "webhook_id=5.0",
    "webhook_id=%35",
    "WEBHOOK_ID=5",
    "webhook_id=five",
    "webhook_id=٥",
    " webhook_id=5",
    "webhook_id=123456789012345678901",
    '{"webhook_id":5}',
  ])("does not answer the form %j", (body) => {
    expect(ping(body)).toBeNull()
  })

  it("leaves a signed request, another content type and another recipe to verification", () => {
    for (const signature of ["", "AAAA"])
      expect(ping("webhook_id=5", { ...FORM, "x-wc-webhook-signature": signature })).toBeNull()
    for (const type of [undefined, "application/json", "text/plain", "multipart/form-data; boundary=x"])
      expect(ping("webhook_id=5", { "content-type": type })).toBeNull()
    for (const recipe of ["github", "shopify", "bearer"] as const)
      expect(ping("webhook_id=5", FORM, { recipe, hmac: null })).toBeNull()
  })
})

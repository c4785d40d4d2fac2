/**
 * Compares the recipes with the senders' own libraries: requests that a library signs are accepted, and both agree about every
 * changed request.
 */
import { hash } from "node:crypto"
import { sign as signGithub, verify as verifyGithub } from "@octokit/webhooks-methods"
import { Paddle } from "@paddle/paddle-node-sdk"
import { RECIPES } from "@data-cabinet/core/verification/Recipes"
import { type SignedRequest, verifySender } from "@data-cabinet/core/verification/VerifySender"
import { Webhook } from "standardwebhooks"
import { Stripe } from "stripe"
import { Webhook as SvixWebhook } from "svix"
import twilio from "twilio"
import { describe, expect, it } from "vitest"
import { mac } from "../support/senderSignatures.ts"

interface Library {
  readonly recipe: "github" | "stripe" | "standard-webhooks" | "svix" | "paddle" | "twilio"
  readonly secret: string
  readonly other: string
  /** The headers of a request signed at a time, in seconds since 1970. */
  readonly sign: (secret: string, request: SignedRequest, time: number) => Promise<Record<string, string>>
  /** Whether the library accepts a request now. */
  readonly accepts: (secret: string, request: SignedRequest) => boolean | Promise<boolean>
  /** Whether the library accepts the same times as the recipe. */
  readonly isTimed: boolean
}

const textOf = ({ body }: SignedRequest) => Buffer.from(body).toString()

const throwsNot = (verify: () => unknown): boolean => {
  try {
    verify()
    return true
  } catch {
    return false
  }
}

const stripe = new Stripe("sk_test_none", { telemetry: false })
const { webhooks } = new Paddle("none")
const WHSEC = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"
const OTHER_WHSEC = "whsec_plJ3nmyCDGBKInavdOK15jsl"

const formOf = (request: SignedRequest) => {
  const form: Record<string, string | Array<string>> = {}
  const fields = new URLSearchParams(textOf(request))
  for (const name of fields.keys()) {
    const values = fields.getAll(name)
    form[name] = values.length === 1 ? values[0]! : values
  }
  return form
}

const hasHash = ({ url }: SignedRequest) => url.includes("bodySHA256=")

const LIBRARIES: ReadonlyArray<Library> = [
  {
    recipe: "github",
    secret: "It's a Secret to Everybody",
    other: "another",
    sign: async (secret, request) => ({ "x-hub-signature-256": await signGithub(secret, textOf(request)) }),
    accepts: async (secret, request) =>
      verifyGithub(secret, textOf(request), request.headers["x-hub-signature-256"] ?? "").catch(() => false),
    isTimed: false,
  },
  {
    recipe: "stripe",
    secret: "whsec_5WbX5kEWLlfzsGNjH64I8lOOqUB6e8FH",
    other: "whsec_other",
    sign: async (secret, request, timestamp) => ({
      "stripe-signature": stripe.webhooks.generateTestHeaderString({ payload: textOf(request), secret, timestamp }),
    }),
    accepts: (secret, request) =>
      throwsNot(() =>
        stripe.webhooks.signature!.verifyHeader(
          textOf(request),
          request.headers["stripe-signature"] ?? "",
          secret,
          300,
        ),
      ),
    isTimed: true,
  },
  {
    recipe: "standard-webhooks",
    secret: WHSEC,
    other: OTHER_WHSEC,
    sign: async (secret, request, time) => ({
      "webhook-id": "msg_1",
      "webhook-timestamp": String(time),
      "webhook-signature": new Webhook(secret).sign("msg_1", new Date(time * 1000), textOf(request)),
    }),
    accepts: (secret, request) => throwsNot(() => new Webhook(secret).verify(textOf(request), headersOf(request))),
    isTimed: true,
  },
  {
    recipe: "svix",
    secret: WHSEC,
    other: OTHER_WHSEC,
    sign: async (secret, request, time) => ({
      "svix-id": "msg_1",
      "svix-timestamp": String(time),
      "svix-signature": new SvixWebhook(secret).sign("msg_1", new Date(time * 1000), textOf(request)),
    }),
    accepts: (secret, request) => throwsNot(() => new SvixWebhook(secret).verify(textOf(request), headersOf(request))),
    isTimed: true,
  },
  {
    // This library only verifies; it accepts times in the future, and up to 5 seconds in the past.
    recipe: "paddle",
    secret: "pdl_ntfset_01",
    other: "pdl_ntfset_02",
    sign: async (secret, request, time) => ({
      "paddle-signature": `ts=${time};h1=${mac("sha256", secret, [`${time}:`, request.body], "hex")}`,
    }),
    accepts: (secret, request) =>
      webhooks.isSignatureValid(textOf(request), secret, request.headers["paddle-signature"] ?? "").catch(() => false),
    isTimed: false,
  },
  {
    recipe: "twilio",
    secret: "12345",
    other: "54321",
    sign: async (secret, request) => ({
      "x-twilio-signature": twilio.getExpectedTwilioSignature(
        secret,
        request.url,
        hasHash(request) ? {} : formOf(request),
      ),
    }),
    accepts: (secret, request) => {
      const signature = request.headers["x-twilio-signature"] ?? ""
      return hasHash(request)
        ? twilio.validateRequestWithBody(secret, signature, request.url, textOf(request))
        : twilio.validateRequest(secret, signature, request.url, formOf(request))
    },
    isTimed: false,
  },
]

/** Removes absent headers, as Node represents them. */
const headersOf = ({ headers }: SignedRequest): Record<string, string> =>
  Object.fromEntries(Object.entries(headers).filter((entry): entry is [string, string] => entry[1] !== undefined))

const now = () => Math.floor(Date.now() / 1000)

const URL_OF_OURS = "https://data.example/webhook/x"
const JSON_BODY = '{"id":"evt_1","name":"Заказ 👍","total":0.10}'

const unsigned = (recipe: Library["recipe"]): SignedRequest =>
  recipe === "twilio"
    ? {
        headers: { "content-type": "application/x-www-form-urlencoded" },
        body: Buffer.from("To=%2B18005551212&From=%2B12349013030&Body=%D0%94%D0%B0%21&Tag=b&Tag=a&Tag=b&Empty="),
        url: `${URL_OF_OURS}?foo=1&bar=2`,
      }
    : { headers: { "content-type": "application/json" }, body: Buffer.from(JSON_BODY), url: URL_OF_OURS }

describe.each(LIBRARIES)("$recipe", ({ recipe, secret, other, sign, accepts, isTimed }) => {
  const request = unsigned(recipe)
  const ours = (sent: SignedRequest, secrets = [secret]) =>
    verifySender(RECIPES[recipe], sent, { secrets, now: now() }).verified
  const signed = async (time = now(), by = secret): Promise<SignedRequest> => ({
    ...request,
    headers: { ...request.headers, ...(await sign(by, request, time)) },
  })

  it("accepts what its library signs, exactly as the library does", async () => {
    const sent = await signed()
    expect([await accepts(secret, sent), ours(sent)]).toEqual([true, true])
    const byOther = await signed(now(), other)
    expect([await accepts(secret, byOther), ours(byOther), ours(byOther, [secret, other])]).toEqual([
      false,
      false,
      true,
    ])
  })

  it("agrees with its library about every change of a request", async () => {
    const sent = await signed()
    const verdicts: Array<boolean> = []
    const compare = async (changed: SignedRequest, what: string) => {
      const theirs = await accepts(secret, changed)
      expect(ours(changed), what).toBe(theirs)
      verdicts.push(theirs)
    }
    for (let at = 0; at < sent.body.length; at += 7) {
      const body = Buffer.from(sent.body)
      body[at] = body[at] === 0x30 ? 0x31 : 0x30
      await compare({ ...sent, body }, `byte ${at}`)
    }
    for (const [name, value] of Object.entries(headersOf(sent))) {
      if (name === "content-type") continue
      const { [name]: _, ...others } = sent.headers
      await compare({ ...sent, headers: others }, `without ${name}`)
      for (const text of ["", "x", `${value}0`, value.slice(0, -2), value.slice(2), `${value.slice(0, -1)}!`]) {
        await compare({ ...sent, headers: { ...sent.headers, [name]: text } }, `${name}: ${text}`)
      }
    }
    await compare({ ...sent, body: Buffer.concat([sent.body, Buffer.from("&x=1")]) }, "a longer body")
    await compare({ ...sent, url: `${sent.url}#x`.replace("#x", recipe === "twilio" ? "&x=1" : "") }, "another address")
    expect(verdicts.filter((one) => !one).length).toBeGreaterThan(10)
  })

  if (isTimed)
    it("accepts the same times as its library: five minutes in either direction", async () => {
      for (const seconds of [-301, -310, -3600, -290, -1, 0, 290]) {
        const sent = await signed(now() + seconds)
        expect(ours(sent), String(seconds)).toBe(await accepts(secret, sent))
      }
    })
})

it("twilio: agrees on a body that is not a form, whose hash is in the address", async () => {
  const { recipe, secret, sign, accepts } = LIBRARIES.find((one) => one.recipe === "twilio")!
  const body = Buffer.from(JSON_BODY)
  const hashed = hash("sha256", JSON_BODY)
  const request = { headers: { "content-type": "application/json" }, body, url: `${URL_OF_OURS}?bodySHA256=${hashed}` }
  const sent = { ...request, headers: { ...request.headers, ...(await sign(secret, request, 0)) } }
  const both = async (changed: SignedRequest) => [
    await accepts(secret, changed),
    verifySender(RECIPES[recipe], changed, { secrets: [secret], now: 0 }).verified,
  ]
  expect(await both(sent)).toEqual([true, true])
  expect(await both({ ...sent, body: Buffer.from("{}") })).toEqual([false, false])
  expect(await both({ ...sent, url: sent.url.replace(hashed, "0".repeat(64)) })).toEqual([false, false])
})

it("square: the example of its own library", () => {
  const request: SignedRequest = {
    headers: { "x-square-hmacsha256-signature": "GF4YkrJgGBDZ9NIYbNXBnMzqb2HoL4RW/S6vkZ9/2N4=" },
    body: Buffer.from(
      '{"merchant_id":"MLEFBHHSJGVHD","type":"webhooks.test_notification","event_id":"ac3ac95b-f97d-458c-a6e6-18981597e05f","created_at":"2022-07-13T20:30:59.037339943Z","data":{"type":"webhooks","id":"bc368e64-01aa-407e-b46e-3231809b1129"}}',
    ),
    url: "https://webhook.site/679a4f3a-dcfa-49ee-bac5-9d0edad886b9",
  }
  const verified = (sent: SignedRequest) =>
    verifySender(RECIPES.square, sent, { secrets: ["Ibxx_5AKakO-3qeNVR61Dw"], now: 0 }).verified
  expect(verified(request)).toBe(true)
  expect(verified({ ...request, url: `${request.url}/` })).toBe(false)
  expect(verified({ ...request, body: Buffer.concat([request.body, Buffer.from(" ")]) })).toBe(false)
})

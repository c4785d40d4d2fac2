/** Accepted spellings of a signature, a time and a secret: every refused one here has a correct signature. */
import { createHmac } from "node:crypto"
import { hmacRecipe } from "@data-cabinet/core/verification/HmacSetting"
import type { LocalRecipe } from "@data-cabinet/core/verification/Recipe"
import { RECIPES } from "@data-cabinet/core/verification/Recipes"
import { type SignedRequest, type Verdict, verifySender } from "@data-cabinet/core/verification/VerifySender"
import { describe, expect, it } from "vitest"

const NOW = 1_614_265_330
const URL_SENT = "https://data.example/webhook/x"
const PASSED: Verdict = { verified: true }
const refused = (reason: string) => ({ verified: false, reason })

const mac = (algorithm: string, key: string, text: string, encoding: "hex" | "base64") =>
  createHmac(algorithm, key).update(text).digest(encoding)

interface Sent {
  readonly body?: string
  readonly url?: string
  readonly secrets?: ReadonlyArray<string>
}

const verdict = (recipe: LocalRecipe, headers: SignedRequest["headers"], sent: Sent = {}): Verdict => {
  const { body = "{}", url = URL_SENT, secrets = ["hush"] } = sent
  return verifySender(recipe, { headers, body: Buffer.from(body), url }, { now: NOW, secrets })
}

const timed = hmacRecipe({
  header: "X-Sig",
  algorithm: "sha256",
  encoding: "hex",
  prefix: "",
  timestampHeader: "X-Time",
  toleranceSeconds: 300,
})
const untimed = (encoding: "hex" | "base64", prefix = "") =>
  hmacRecipe({ header: "X-Sig", algorithm: "sha256", encoding, prefix, timestampHeader: null, toleranceSeconds: 1 })

describe("a plain secret", () => {
  it("is missing if the header is missing or empty, and wrong in another form", () => {
    for (const headers of [{}, { authorization: "" }, { authorization: ["Bearer hush"] as never }])
      expect(verdict(RECIPES.bearer, headers)).toEqual(refused("no_signature"))
    for (const authorization of ["hush", "Basic hush", "Token hush", "Bearerhush", " Bearer hush", "Bearer hush2"])
      expect(verdict(RECIPES.bearer, { authorization })).toEqual(refused("bad_signature"))
    expect(verdict(RECIPES.bearer, { authorization: "Bearer \t hush " })).toEqual(PASSED)
  })

  it("matches nothing when empty", () => {
    expect(verdict(RECIPES.bearer, { authorization: "Bearer " }, { secrets: [""] })).toEqual(refused("bad_signature"))
    expect(verdict(RECIPES.basic, { authorization: "Basic ====" }, { secrets: [""] })).toEqual(refused("bad_signature"))
  })
})

describe("a signature", () => {
  const hex = mac("sha256", "hush", "{}", "hex")
  const base64 = mac("sha256", "hush", "{}", "base64")

  it("in hex must match completely, in upper or lower case", () => {
    expect(verdict(untimed("hex"), { "x-sig": hex })).toEqual(PASSED)
    expect(verdict(untimed("hex"), { "x-sig": hex.toUpperCase() })).toEqual(PASSED)
    for (const sig of [`${hex}zz`, `zz${hex}`, `${hex}0`, `${hex}00`, hex.slice(0, -1), hex.slice(2), ` ${hex}`])
      expect(verdict(untimed("hex"), { "x-sig": sig })).toEqual(refused("bad_signature"))
  })

  it("in base64 has one accepted text for its bytes, with or without padding", () => {
    expect(verdict(untimed("base64"), { "x-sig": base64 })).toEqual(PASSED)
    expect(verdict(untimed("base64"), { "x-sig": base64.replace("=", "") })).toEqual(PASSED)
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
    // Two bits of its last digit are unused.
    const last = alphabet.indexOf(base64.at(-2)!)
    const twin = `${base64.slice(0, -2)}${alphabet[last + 1]!}=`
    expect(Buffer.from(twin, "base64")).toEqual(Buffer.from(base64, "base64"))
    for (const sig of [twin, `${base64}!`, `!${base64}`, `${base64}==`, ` ${base64}`])
      expect(verdict(untimed("base64"), { "x-sig": sig }).verified).toBe(false)
  })

  it("in base64 may have the alphabet of URLs, but not both", () => {
    const signed = (body: string) => mac("sha256", "hush", body, "base64")
    const body = Array.from({ length: 200 }, (_, n) => `{"n":${n}}`).find((one) => /\+.*\//.test(signed(one)))!
    const sig = signed(body)
    const url = sig.replaceAll("+", "-").replaceAll("/", "_")
    for (const one of [sig, url, url.replace("=", "")])
      expect(verdict(untimed("base64"), { "x-sig": one }, { body })).toEqual(PASSED)
    expect(verdict(untimed("base64"), { "x-sig": sig.replaceAll("+", "-") }, { body }).verified).toBe(false)
  })

  it("is ignored without its prefix", () => {
    expect(verdict(untimed("hex", "sha256="), { "x-sig": `sha256=${hex}` })).toEqual(PASSED)
    for (const sig of [hex, `sha512=${hex}`, `SHA256=${hex}`])
      expect(verdict(untimed("hex", "sha256="), { "x-sig": sig })).toEqual(refused("bad_signature"))
  })

  it("is checked only among the first eight of its header, with or without spaces between them", () => {
    const right = mac("sha256", "hush", `${NOW}.{}`, "hex")
    const stripe = (value: string) => verdict(RECIPES.stripe, { "stripe-signature": value })
    const wrong = `v1=${"0".repeat(64)},`
    expect(stripe(`t=${NOW}, v1=${right}`)).toEqual(PASSED)
    expect(stripe(`v1=${right} ,t=${NOW}`)).toEqual(PASSED)
    expect(stripe(`t=${NOW},${wrong.repeat(7)}v1=${right}`)).toEqual(PASSED)
    expect(stripe(`t=${NOW},${"v0=00,".repeat(20)}v1=${right}`)).toEqual(PASSED)
    expect(stripe(`t=${NOW},${wrong.repeat(8)}v1=${right}`)).toEqual(refused("bad_signature"))
    expect(stripe(`t=${NOW},v0=${right}`)).toEqual(refused("bad_signature"))
  })

  it("matches nothing with an empty key", () => {
    const sig = mac("sha256", "", "{}", "hex")
    for (const secrets of [[""], ["", "hush"]])
      expect(verdict(untimed("hex"), { "x-sig": sig }, { secrets })).toEqual(refused("bad_signature"))
    const standard = {
      "webhook-id": "msg_1",
      "webhook-timestamp": String(NOW),
      "webhook-signature": `v1,${mac("sha256", "", `msg_1.${NOW}.{}`, "base64")}`,
    }
    expect(verdict(RECIPES["standard-webhooks"], standard, { secrets: ["whsec_"] })).toEqual(refused("bad_signature"))
  })
})

describe("a timestamp", () => {
  const at = (time: string) => verdict(timed, { "x-sig": mac("sha256", "hush", `${time}.{}`, "hex"), "x-time": time })

  it("counts as missing unless it is one to twelve digits", () => {
    expect(at(String(NOW))).toEqual(PASSED)
    expect(at(`00${NOW}`)).toEqual(PASSED)
    for (const time of [`+${NOW}`, ` ${NOW}`, `${NOW} `, `${NOW}.0`, `0x${NOW.toString(16)}`, `000${NOW}`])
      expect(at(time)).toEqual(refused("no_signature"))
    expect(verdict(timed, { "x-sig": mac("sha256", "hush", "undefined.{}", "hex") })).toEqual(refused("no_signature"))
  })

  it("is required if signed, and so is a message number", () => {
    const key = Buffer.from("hush").toString("base64")
    const sig = (id: string) => `v1,${mac("sha256", "hush", `${id}.${NOW}.{}`, "base64")}`
    const headers = { "webhook-timestamp": String(NOW), "webhook-signature": sig("") }
    const recipe = RECIPES["standard-webhooks"]
    expect(verdict(recipe, headers, { secrets: [key] })).toEqual(refused("no_signature"))
    const whole = { ...headers, "webhook-id": "7", "webhook-signature": sig("7") }
    expect(verdict(recipe, whole, { secrets: [key] })).toEqual(PASSED)
  })
})

describe("twilio's parameters", () => {
  const form = (body: string, signed: string, url = URL_SENT) =>
    verdict(
      RECIPES.twilio,
      {
        "content-type": "application/x-www-form-urlencoded",
        "x-twilio-signature": mac("sha1", "hush", `${url}${signed}`, "base64"),
      },
      { body, url },
    )

  it("are signed in the order of their names, and the values of one name by value", () => {
    expect(form("b=3&a=2&a=1&a=2", "a1a2b3")).toEqual(PASSED)
    expect(form("b=3&a=2&a=1&a=2", "a2a1b3")).toEqual(refused("bad_signature"))
    expect(form("B=1&a=2&%C3%A9=3", "B1a2é3")).toEqual(PASSED)
    expect(form("", "")).toEqual(PASSED)
  })

  it("are signed even with an invalid address", () => {
    expect(form("a=1", "a1", "nowhere")).toEqual(PASSED)
    const headers = { "x-twilio-signature": mac("sha1", "hush", URL_SENT, "base64") }
    expect(verdict(RECIPES.twilio, headers, { body: "" })).toEqual(PASSED)
    expect(verdict(RECIPES.twilio, headers, { body: "a" })).toEqual(refused("bad_signature"))
  })
})

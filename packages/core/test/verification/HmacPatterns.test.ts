/** Senders without their own recipe, described by patterns and fields, and descriptions that prove nothing. */
import { createHmac } from "node:crypto"
import { changedHmac, hmacRecipe } from "@data-cabinet/core/verification/HmacSetting"
import type { HmacChange } from "@data-cabinet/core/verification/Recipe"
import { RECIPES } from "@data-cabinet/core/verification/Recipes"
import { verifySender } from "@data-cabinet/core/verification/VerifySender"
import { describe, expect, it } from "vitest"

const NOW = 1_700_000_000
const BODY = '{"id":1,"name":"ж"}'
const URL_SENT = "https://data.example/webhook/x?shop=1"

const mac = (text: string, encoding: "hex" | "base64" = "hex", algorithm = "sha256") =>
  createHmac(algorithm, "hush").update(text).digest(encoding)

interface Sent {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly now?: number
}

const verdict = (change: HmacChange, { headers = {}, body = BODY, now = NOW }: Sent) => {
  const parameters = changedHmac(null, change)
  if (typeof parameters === "string") throw new Error(parameters)
  const request = { headers, body: Buffer.from(body), url: URL_SENT }
  const found = verifySender(hmacRecipe(parameters), request, { secrets: ["hush"], now })
  return found.verified || found.reason
}

interface Sender {
  readonly name: string
  readonly change: HmacChange
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string
}

/** Senders, according to their documentation. */
const SENDERS: ReadonlyArray<Sender> = [
  {
    name: "a plain digest",
    change: { header: "X-Sig" },
    headers: { "x-sig": mac(BODY) },
  },
  {
    name: "sha256=",
    change: { header: "X-Sig", value: "sha256={signature}" },
    headers: { "x-sig": `sha256=${mac(BODY)}` },
  },
  {
    name: "Stripe's form in a header of another name",
    change: {
      header: "Calendly-Webhook-Signature",
      value: "t={timestamp},v1={signature}",
      signed: "{timestamp}.{body}",
    },
    headers: { "calendly-webhook-signature": `t=${NOW},v1=${mac(`${NOW}.${BODY}`)}` },
  },
  {
    name: "the same without a pattern of what is signed, in another order, with spaces and two signatures",
    change: { header: "X-Sig", value: "t={timestamp},v1={signature}" },
    headers: { "x-sig": `v1=${"0".repeat(64)}, v1=${mac(`${NOW}.${BODY}`)}, t=${NOW}` },
  },
  {
    name: "Zendesk: a time of RFC 3339 before the body, in base64",
    change: {
      header: "X-Zendesk-Webhook-Signature",
      encoding: "base64",
      timestampHeader: "X-Ts",
      signed: "{timestamp}{body}",
    },
    headers: {
      "x-zendesk-webhook-signature": mac(`2023-11-14T22:13:20Z${BODY}`, "base64"),
      "x-ts": "2023-11-14T22:13:20Z",
    },
  },
  {
    name: "milliseconds",
    change: { header: "X-Sig", timestampHeader: "X-Ts", signed: "{timestamp}:{body}" },
    headers: { "x-sig": mac(`${NOW}123:${BODY}`), "x-ts": `${NOW}123` },
  },
  {
    name: "Slack's form",
    change: { header: "X-Sig", value: "v0={signature}", timestampHeader: "X-Ts", signed: "v0:{timestamp}:{body}" },
    headers: { "x-sig": `v0=${mac(`v0:${NOW}:${BODY}`)}`, "x-ts": String(NOW) },
  },
  {
    name: "a number of the message, and lines",
    change: { header: "X-Sig", idHeader: "X-Id", timestampHeader: "X-Ts", signed: "{id}\\n{timestamp}\\n{body}" },
    headers: { "x-sig": mac(`m1\n${NOW}\n${BODY}`), "x-ts": String(NOW), "x-id": "m1" },
  },
  {
    name: "the number in the same header, with semicolons",
    change: { header: "X-Sig", value: "id={id};ts={timestamp};h1={signature}", signed: "{id}.{timestamp}.{body}" },
    headers: { "x-sig": `id=m1;ts=${NOW};h1=${mac(`m1.${NOW}.${BODY}`)}` },
  },
  {
    name: "the address before the body, with SHA-1",
    change: { header: "X-Sig", algorithm: "sha1", encoding: "base64", signed: "{url}{body}" },
    headers: { "x-sig": mac(URL_SENT + BODY, "base64", "sha1") },
  },
  {
    name: "fields of a form",
    change: { field: "signature", timestampField: "timestamp", signed: "{timestamp}{field:token}" },
    headers: { "content-type": "application/x-www-form-urlencoded" },
    body: `subject=a%20b&timestamp=${NOW}&token=tok%65n&signature=${mac(`${NOW}token`)}`,
  },
  {
    name: "fields of JSON, one of them a number",
    change: { field: "auth.hash", timestampField: "auth.at", signed: "{field:order.id}|{field:order.sum}|{timestamp}" },
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ auth: { hash: mac(`7|0.10|${NOW}`), at: NOW }, order: { id: 7, sum: "0.10" } }),
  },
]

describe("hmac by patterns", () => {
  it.each(SENDERS)("verifies $name", ({ change, headers, body = BODY }) => {
    expect(verdict(change, { headers, body })).toBe(true)
  })

  it.each(SENDERS)("refuses $name when one byte of a signed value is changed", ({ change, headers, body = BODY }) => {
    const signed = change.signed ?? "{body}"
    if (signed.includes("{body}")) expect(verdict(change, { headers, body: `${body} ` })).toBe("bad_signature")
    else expect(verdict(change, { headers, body: body.replace(/tok%65n|0\.10/, "x") })).toBe("bad_signature")
    for (const name of Object.keys(headers).filter((one) => one !== "content-type")) {
      const { [name]: _gone, ...others } = headers
      expect(verdict(change, { headers: others, body })).toBe("no_signature")
    }
  })

  it.each(SENDERS.filter(({ change }) => `${change.value} ${change.signed}`.includes("{timestamp}")))(
    "refuses $name when its time is six minutes off",
    ({ change, headers, body = BODY }) => {
      for (const now of [NOW - 360, NOW + 360]) expect(verdict(change, { headers, body, now })).toBe("old_timestamp")
      for (const now of [NOW - 290, NOW + 290]) expect(verdict(change, { headers, body, now })).toBe(true)
    },
  )

  it("refuses a time in another form", () => {
    const change: HmacChange = { header: "X-Sig", timestampHeader: "X-Ts" }
    const at = (time: string) => verdict(change, { headers: { "x-sig": mac(`${time}.${BODY}`), "x-ts": time } })
    expect(at("2023-11-14 22:13:20+00:00")).toBe(true)
    for (const time of ["yesterday", "2023-11-14", "2023-13-14T22:13:20Z", "Tue, 14 Nov 2023 22:13:20 GMT", `${NOW}.5`])
      expect(at(time)).toBe("no_signature")
  })

  it("refuses a body without the signed fields", () => {
    const { change } = SENDERS[11]!
    const headers = { "content-type": "application/json" }
    for (const body of ["{}", "[]", "", '{"auth":{"hash":"00"}}', `{"auth":{"hash":"00","at":${NOW}}}`])
      expect(verdict(change, { headers, body })).toBe("no_signature")
  })
})

describe("changedHmac", () => {
  it.each<[HmacChange, RegExp]>([
    [{}, /needs the header of the signature, or its field/],
    [{ header: "X", field: "a" }, /in one place/],
    [{ header: "X", signed: "" }, /needs \{body\}/],
    [{ header: "X", signed: "{timestamp}", timestampHeader: "T" }, /needs \{body\}/],
    [{ header: "X", signed: "{url}" }, /needs \{body\}/],
    [{ header: "X", signed: "{body}{nonce}" }, /has \{nonce\}; it may have/],
    [{ header: "X", signed: "{body" }, /a brace/],
    [{ header: "X", signed: "{body}}" }, /a brace/],
    [{ header: "X", signed: "{body}\0" }, /no control characters/],
    [{ header: "X", signed: "{field:}{body}" }, /1 to 200 characters/],
    [{ header: "X", signed: `{body}${"x".repeat(500)}` }, /at most 500/],
    [{ header: "X", signed: "{timestamp}.{body}" }, /say which header/],
    [{ header: "X", signed: "{id}.{body}" }, /say which header/],
    [{ header: "X", signed: "{body}", timestampHeader: "T" }, /what is not signed proves nothing/],
    [{ header: "X", idHeader: "I" }, /what is not signed proves nothing/],
    [{ header: "X", value: "t={timestamp}" }, /value needs \{signature\}/],
    [{ header: "X", value: "{timestamp},{signature}" }, /needs a beginning/],
    [{ header: "X", value: "v1={signature},v1={signature}" }, /twice/],
    [{ header: "X", value: "v1={hash}" }, /each part of value/],
    [{ header: "X", value: "v1={signature}!" }, /each part of value/],
    [{ header: "X", value: "" }, /each part of value/],
    [{ header: "X", value: "v1={signature}", prefix: "v1=" }, /not both/],
    [{ header: "X", value: "t={timestamp},v1={signature}", timestampHeader: "T" }, /in one place/],
    [{ header: "X", timestampHeader: "T", timestampField: "t" }, /in one place/],
    [{ header: "X", value: "i={id},v1={signature}", idHeader: "I", signed: "{id}{body}" }, /in one place/],
    [{ field: "a.b.c.d.e.f.g.h.i" }, /at most 8 steps/],
    [{ header: "X", idHeader: "I D", signed: "{id}{body}" }, /is not a header's name/],
  ])("refuses %j", (change, words) => {
    expect(changedHmac(null, change)).toMatch(words)
  })

  it("keeps absent members, and removes members that are null", () => {
    const first = changedHmac(null, { header: "X", value: "t={timestamp},v1={signature}", signed: "{timestamp}{body}" })
    if (typeof first === "string") throw new Error(first)
    expect(changedHmac(first, { algorithm: "sha1" })).toEqual({ ...first, algorithm: "sha1" })
    const { value: _v, signed: _s, ...bare } = first
    expect(changedHmac(first, { value: null, signed: null })).toEqual(bare)
    expect(changedHmac(first, { field: "sig" })).toEqual({ ...first, header: null, field: "sig" })
    expect(changedHmac({ ...first, header: null, field: "sig" }, { header: "Y" })).toEqual({ ...first, header: "Y" })
  })
})

describe("mailgun", () => {
  const sent = (body: string, type = "application/json") => ({
    headers: { "content-type": type },
    body: Buffer.from(body),
    url: URL_SENT,
  })
  const at = (request: ReturnType<typeof sent>, now = NOW) => {
    const found = verifySender(RECIPES.mailgun, request, { secrets: ["hush"], now })
    return found.verified || found.reason
  }
  const signature = mac(`${NOW}t0k`)

  it("is read from JSON, from a form and from a form with files", () => {
    expect(at(sent(JSON.stringify({ signature: { timestamp: String(NOW), token: "t0k", signature } })))).toBe(true)
    expect(at(sent(JSON.stringify({ timestamp: NOW, token: "t0k", signature })))).toBe(true)
    const form = `recipient=a%40b.c&timestamp=${NOW}&token=t0k&signature=${signature}`
    expect(at(sent(form, "application/x-www-form-urlencoded"))).toBe(true)
    const parts = Object.entries({ timestamp: NOW, token: "t0k", signature }).map(
      ([name, value]) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`,
    )
    expect(at(sent(`${parts.join("")}--b--`, "multipart/form-data; boundary=b"))).toBe(true)
  })

  it("is refused when a field is missing, different or too old", () => {
    const form = (fields: Record<string, string | number>) =>
      sent(
        new URLSearchParams(Object.entries(fields).map(([a, b]): [string, string] => [a, String(b)])).toString(),
        "application/x-www-form-urlencoded",
      )
    const all = { timestamp: NOW, token: "t0k", signature }
    expect(at(form(all))).toBe(true)
    for (const name of Object.keys(all)) expect(at(form({ ...all, [name]: "" }))).toBe("no_signature")
    expect(at(form({ ...all, token: "t0l" }))).toBe("bad_signature")
    expect(at(form({ ...all, timestamp: NOW + 1 }))).toBe("bad_signature")
    expect(at(form(all), NOW + 12 * 3600)).toBe(true)
    expect(at(form(all), NOW + 12 * 3600 + 1)).toBe("old_timestamp")
  })
})

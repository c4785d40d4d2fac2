/** A token is compared in its place, and no stored part of the request contains it. */
import { withoutToken } from "@data-cabinet/core/verification/HiddenToken"
import type { Place } from "@data-cabinet/core/verification/Recipe"
import { tokenRecipe } from "@data-cabinet/core/verification/Recipes"
import { verifySender } from "@data-cabinet/core/verification/VerifySender"
import iconv from "iconv-lite"
import { describe, expect, it } from "vitest"
import { request } from "../intake/MemoryStore.ts"
import { Random } from "../intake/Random.ts"

const TOKEN = "s3cr3t"

const source = (place: Place) => ({ recipe: "token", mode: "mark", hmac: null, secrets: [TOKEN], ...place }) as const

const sent = (body: string | Uint8Array, contentType: string | undefined, more: Record<string, unknown> = {}) =>
  request({} as never, { body: Buffer.from(body as string), headers: { "content-type": contentType }, ...more })

/** Whether the token is found, and the body as stored. */
const seen = (place: Place, of: ReturnType<typeof sent>) => {
  const url = `https://data.example/webhook/x${of.query === "" ? "" : `?${of.query}`}`
  const options = { secrets: [TOKEN], now: 0 }
  const verdict = verifySender(tokenRecipe(place), { headers: of.headers, body: of.body, url }, options)
  const kept = withoutToken(source(place), of)
  return { is: verdict.verified || verdict.reason, body: Buffer.from(kept.body).toString(), kept }
}

const JSON_TYPE = "application/json"
const LINES = "application/x-ndjson"
const FORM = "application/x-www-form-urlencoded"
const MULTIPART = "multipart/form-data; boundary=b"
const BASE64 = "\r\nContent-Transfer-Encoding: base64"
const PRINTABLE = "\r\nContent-Transfer-Encoding: quoted-printable"
const parts = (...fields: ReadonlyArray<readonly [head: string, value: string]>) =>
  `${fields.map(([head, value]) => `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${value}\r\n`).join("")}--b--\r\n`

describe("a token in a field", () => {
  it.each([
    [FORM, `{"token":"${TOKEN}","a":1,}`, '{"token":"***","a":1,}'],
    [FORM, `{"token":"${TOKEN}"}\n{"token":"${TOKEN}"}`, '{"token":"***"}\n{"token":"***"}'],
    [undefined, `[{"token":"${TOKEN}"},]`, '[{"token":"***"},]'],
  ])("is masked in damaged JSON, as %s: %s", (type, body, kept) => {
    expect(seen({ field: "token" }, sent(body, type)).body).toBe(kept)
  })
  it("passes beside letters of which a byte is a backslash", () => {
    const body = iconv.encode(`{"a":"ソ","token":"${TOKEN}"}`, "shiftjis")
    expect(seen({ field: "token" }, sent(body, `${JSON_TYPE}; charset=shift_jis`)).is).toBe(true)
  })
  it.each([
    [JSON_TYPE, `{"token":"${TOKEN}","a":1.0}`, '{"token":"***","a":1.0}'],
    [JSON_TYPE, `{ "a" : [{"token":"x"}] ,\n "token" : "${TOKEN}" }`, '{ "a" : [{"token":"x"}] ,\n "token" : "***" }'],
    [JSON_TYPE, `{"tok\\u0065n":"s3\\u0063r3t"}`, '{"tok\\u0065n":"***"}'],
    [JSON_TYPE, `{"token":"old","b":"}","token":"${TOKEN}"}`, '{"token":"***","b":"}","token":"***"}'],
    [JSON_TYPE, `\uFEFF {"я":"ё","token":"${TOKEN}"}`, '\uFEFF {"я":"ё","token":"***"}'],
    [undefined, `{"token":"${TOKEN}"}`, '{"token":"***"}'],
    ["text/plain", `{"token":"${TOKEN}"}`, '{"token":"***"}'],
    [FORM, `{"token":"${TOKEN}","b":"&token=x&"}`, '{"token":"***","b":"&token=x&"}'],
    [FORM, `a=1&token=${TOKEN}&b=%ff+`, "a=1&token=***&b=%ff+"],
    [FORM, `tok%65n=s3%63r3t&tokens=${TOKEN}x`, `tok%65n=***&tokens=${TOKEN}x`],
    [FORM, `{a=1&token=${TOKEN}`, "{a=1&token=***"],
    [FORM, `token=${TOKEN}&token=${TOKEN}`, "token=***&token=***"],
    [undefined, `token=${TOKEN}`, "token=***"],
    [
      MULTIPART,
      parts(['name="a"', "1"], ['name="token"', TOKEN], ['name="token"; filename="t"', "file"]),
      parts(['name="a"', "1"], ['name="token"', "***"], ['name="token"; filename="t"', "file"]),
    ],
    [MULTIPART, parts([`name="token"${BASE64}`, "czNjcjN0"]), parts([`name="token"${BASE64}`, "Kioq"])],
    [MULTIPART, parts([`name="token"${PRINTABLE}`, "s3=63r3t"]), parts([`name="token"${PRINTABLE}`, "***"])],
  ])("passes and is masked, as %s: %s", (type, body, kept) => {
    expect(seen({ field: "token" }, sent(body, type))).toMatchObject({ is: true, body: kept })
  })

  it.each([
    [JSON_TYPE, `{"a":{"token":"${TOKEN}"}}`, "no_signature", `{"a":{"token":"${TOKEN}"}}`],
    [
      JSON_TYPE,
      `[{"a":[1],"token":"${TOKEN}"}, 2 ,{"token":1}]`,
      "no_signature",
      '[{"a":[1],"token":"***"}, 2 ,{"token":"***"}]',
    ],
    [JSON_TYPE, `[[{"token":"${TOKEN}"}`, "no_signature", `[[{"token":"${TOKEN}"}`],
    [undefined, `[{"token":"${TOKEN}"}]`, "no_signature", '[{"token":"***"}]'],
    [
      LINES,
      `{"token":"${TOKEN}"}\n{"a":1,"token":"${TOKEN}"}\n`,
      "no_signature",
      '{"token":"***"}\n{"a":1,"token":"***"}\n',
    ],
    [LINES, `} {"token":1}`, "no_signature", `} {"token":1}`],
    ["text/plain", `a=1\r\ntoken=${TOKEN}\r\nb=2\r\n`, "no_signature", "a=1\r\ntoken=***\r\nb=2\r\n"],
    [
      undefined,
      parts(['name="token"', TOKEN], ['name="a"', "1"]),
      "no_signature",
      parts(['name="token"', "***"], ['name="a"', "1"]),
    ],
    [JSON_TYPE, '{"token":"guess"}', "bad_signature", '{"token":"***"}'],
    [JSON_TYPE, '{"token":["s3cr3t"],"n":0}', "no_signature", '{"token":["s3cr3t"],"n":0}'],
    [JSON_TYPE, `{"a":1,"token":"${TOKEN}",`, "no_signature", '{"a":1,"token":"***",'],
    [JSON_TYPE, '{"token":""}', "no_signature", '{"token":"***"}'],
    [JSON_TYPE, '{"token":null}', "no_signature", '{"token":null}'],
    [JSON_TYPE, "", "no_signature", ""],
    [FORM, "token", "no_signature", "token"],
    [FORM, "Token=s3cr3t", "no_signature", "Token=s3cr3t"],
    [FORM, `token=guess&token=${TOKEN}`, "bad_signature", "token=***&token=***"],
    [MULTIPART, parts(['name="token"; filename="t"', TOKEN]), "no_signature", undefined],
    [MULTIPART, "no parts", "no_signature", "no parts"],
  ])("is refused, as %s: %s", (type, body, is, kept) => {
    expect(seen({ field: "token" }, sent(body, type))).toMatchObject({ is, body: kept ?? body })
  })

  it("is found by a path when no member has the path as its name", () => {
    const body = `{"auth":{"token":"${TOKEN}"},"token":1}`
    expect(seen({ field: "auth.token" }, sent(body, JSON_TYPE))).toMatchObject({
      is: true,
      body: '{"auth":{"token":"***"},"token":1}',
    })
    const named = `{"auth":{"token":"x"},"auth.token":"${TOKEN}"}`
    expect(seen({ field: "auth.token" }, sent(named, JSON_TYPE))).toMatchObject({
      is: true,
      body: '{"auth":{"token":"***"},"auth.token":"***"}',
    })
    expect(seen({ field: "a.b" }, sent('{"a":["x"]}', JSON_TYPE)).is).toBe("no_signature")
    expect(seen({ field: "toString" }, sent("{}", JSON_TYPE)).is).toBe("no_signature")
  })

  it("leaves every other member as it was sent", () => {
    const random = new Random(7)
    const pick = <A>(all: ReadonlyArray<A>): A => random.pick(all)
    const space = () => pick(["", "", " ", "\n\t"])
    const value = (depth: number): string => {
      const kind = depth > 3 ? 0 : random.below(4)
      if (kind === 1) return `[${Array.from({ length: 3 }, () => value(depth + 1)).join(`${space()},`)}]`
      if (kind === 2) return object(depth + 1)
      return pick(["1", "-0.50e3", "null", "true", '"x"', '"}\\"{,:"', '"\\\\"', '"ж☃"', `"&token=${TOKEN}&"`])
    }
    const object = (depth: number): string =>
      `{${space()}${Array.from({ length: 3 }, (_, index) => `"${depth > 0 ? "token" : "k"}${depth > 0 && index === 0 ? "" : index}"${space()}:${space()}${value(depth + 1)}`).join(`${space()},${space()}`)}}`
    for (let run = 0; run < 300; run++) {
      const inner = object(0).slice(1, -1)
      const [before, after] = [`{"token"${space()}:${space()}`, `,${inner}}`]
      const { is, body } = seen({ field: "token" }, sent(`${before}"${TOKEN}"${after}`, JSON_TYPE))
      expect([is, body]).toEqual([true, `${before}"***"${after}`])
    }
  })
})

describe("a token elsewhere", () => {
  it.each([
    [`token=${TOKEN}`, true, "token=***"],
    [`a=%zz&token=s3%63r3t&b`, true, "a=%zz&token=***&b"],
    [`tok%65n=${TOKEN}&a=\u00ff`, true, "tok%65n=***&a=\u00ff"],
    [`token=guess&token=${TOKEN}`, "bad_signature", "token=***&token=***"],
    ["token=", "no_signature", "token=***"],
    ["token", "no_signature", "token"],
    ["", "no_signature", ""],
    [`tokens=${TOKEN}`, "no_signature", `tokens=${TOKEN}`],
  ])("in the query %s is masked there", (query, is, kept) => {
    const got = seen({ query: "token" }, sent("{}", JSON_TYPE, { query }))
    expect([got.is, got.kept.query, got.body]).toEqual([is, kept, "{}"])
  })

  it("in a header is dropped with it, whatever the letter case of the setting", () => {
    const headers = { "x-token": TOKEN, "x-other": TOKEN }
    const got = seen({ header: "X-Token" }, sent("{}", JSON_TYPE, { headers }))
    expect([got.is, got.kept.headers]).toEqual([true, { "x-other": TOKEN }])
    for (const value of ["guess", "s3cr3t2", "S3CR3T"])
      expect(seen({ header: "X-Token" }, sent("{}", JSON_TYPE, { headers: { "x-token": value } })).is).toBe(
        "bad_signature",
      )
  })

  it("changes nothing of a request whose source has another recipe, or none", () => {
    const of = sent(`{"token":"${TOKEN}"}`, JSON_TYPE, { query: `token=${TOKEN}` })
    expect(withoutToken(null, of)).toBe(of)
    expect(withoutToken({ ...source({}), recipe: "bearer" }, of)).toBe(of)
  })
})

it("withoutToken masks a name that begins with a question mark, and no other", () => {
  const query = `a=1&?token=${TOKEN}&token=x`
  expect(seen({ query: "?token" }, sent("", FORM, { query })).kept.query).toBe("a=1&?token=***&token=x")
  expect(seen({ field: "?token" }, sent(query, FORM)).body).toBe("a=1&?token=***&token=x")
})

/** No bytes under any content type make the parser throw, or return anything that the store cannot hold. */
import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { describe } from "vitest"
import { jsonText } from "../../src/json/JsonText.ts"
import { isEmptyPayload } from "../../src/event/Payload.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { Random } from "./Random.ts"

const SEED = 20_261_121
/** `npm run trials` reads more. */
const BODIES = Number(process.env["FUZZ_BODIES"] ?? 30_000)

const TYPES = [
  "application/json",
  "application/problem+json; charset=windows-1251",
  "application/x-www-form-urlencoded",
  "application/x-www-form-urlencoded; charset=shift_jis",
  "multipart/form-data; boundary=X",
  'multipart/form-data; boundary="----W"; charset=gbk',
  "multipart/form-data",
  "text/plain",
  "text/plain; charset=koi8-r",
  "application/octet-stream",
  undefined,
]

/** Under these types, a body that did not parse counts as filled. */
const OWN_TYPE = /^(?:text\/plain|application\/octet-stream)/

const REAL: ReadonlyArray<Buffer> = [
  Buffer.from(
    '{"id":12345678901234567890,"total":1.50,"name":"Иван","tags":["a","b",{"x":null}],"ok":true,"u":"\\u0041\\ud83d\\ude00"}',
  ),
  Buffer.from('[{"a":1},{"b":[[[]]]},{"__proto__":{"c":"d"}}]'),
  Buffer.from("name=Ivan+P&email=a%40b.c&tags[]=1&tags[]=2&_charset_=utf-8&x=%D0%98%D0%B2"),
  iconv.encode("имя=Иван&город=Нижний&_charset_=windows-1251", "win1251"),
  Buffer.from(
    '--X\r\nContent-Disposition: form-data; name="a"\r\n\r\nhello\r\n--X\r\nContent-Disposition: form-data; name="f"; filename="x.txt"; filename*=windows-1251\'\'%CF%F0\r\nContent-Type: text/plain; charset=koi8-r\r\n\r\nabc\r\n--X--\r\n',
  ),
  iconv.encode('------W\r\nContent-Disposition: form-data; name="имя"\r\n\r\nПётр\r\n------W--', "win1251"),
  Buffer.from("plain text, a = b & c"),
  Buffer.from("name=Ivan P\r\nmessage=one\r\ntwo=2\r\n\r\ntags[]=x\r\n"),
  Buffer.from("\uFEFF{}"),
]

const SNIPPETS = [
  "{",
  "}",
  "[",
  "]",
  '"',
  "\\",
  "\\u0000",
  "\\ud800",
  ",",
  ":",
  "&",
  "=",
  "%",
  "%00",
  "%FF",
  "+",
  "\r\n",
  "--X",
  "--",
  "\0",
  "\xff",
  "\xf0\x90",
  "\xef\xbf\xbd",
  "1e9999",
  "__proto__",
  "_raw=",
  ";",
  "\n\n",
  "charset=",
  "''",
].map((text) => Buffer.from(text, "latin1"))

const mutated = (random: Random): Buffer => {
  let body = random.pick(REAL)
  for (let times = 1 + random.below(6); times > 0; times--) {
    const at = random.below(body.length + 1)
    const to = Math.min(body.length, at + random.below(12))
    switch (random.below(5)) {
      case 0:
        body = Buffer.concat([body.subarray(0, at), body.subarray(to)])
        break
      case 1:
        body = Buffer.concat([body.subarray(0, at), random.pick(SNIPPETS), body.subarray(at)])
        break
      case 2:
        body = Buffer.concat([body.subarray(0, to), body.subarray(at)])
        break
      case 3:
        body = Buffer.concat([body.subarray(0, at), random.pick(REAL).subarray(random.below(20))])
        break
      default:
        body = Buffer.from(body)
        if (at < body.length) body[at] = random.below(256)
    }
  }
  return body
}

const filled = (piece: string) => piece.repeat(Math.floor(1_048_576 / Buffer.byteLength(piece)))

const MULTIPART = "multipart/form-data; boundary=X"

describe("parseSubmission of arbitrary bytes", () => {
  it(`parseSubmission reads ${BODIES} damaged bodies into events that can be stored (seed ${SEED})`, () => {
    console.log(`fuzz seed ${SEED}`)
    const random = new Random(SEED)
    for (let count = 0; count < BODIES; count++) {
      const submission = {
        body: mutated(random),
        contentType: random.pick(TYPES),
        query: random.below(4) === 0 ? mutated(random).toString("latin1") : "",
        encoding: random.pick([null, null, null, "utf-8", "windows-1251", "latin-1"] as const),
      }
      const parsed = parseSubmission(submission)
      const about = JSON.stringify({ ...submission, body: submission.body.toString("latin1") })
      if (parsed.events.length !== 1 && parsed.shape !== "batch") assert.fail(about)
      for (const { payload, empty, fingerprint } of parsed.events) {
        const text = jsonText(payload)
        JSON.parse(text)
        const storable = !text.includes("\\u0000") && !text.includes("\\ud") && text.isWellFormed()
        // Unless the body itself has an escaped backslash in front of them.
        if (!storable && !text.includes("\\\\u")) assert.fail(about)
        const withoutText = parsed.refusal !== null || isEmptyPayload(payload)
        const asText = payload.has("_raw") && OWN_TYPE.test(submission.contentType ?? "")
        if (fingerprint.length !== 64 || (empty !== withoutText && (empty || !asText))) assert.fail(about)
      }
    }
  })

  it.for([
    ["application/json", filled("[")],
    ["application/json", filled('{"a":')],
    ["application/json", `[${filled("1,")}1]`],
    ["application/json", `{${filled('"\\udc00":1,')}"a":1}`],
    ["application/json", `"${filled("\\u0000")}"`],
    ["application/json", `${filled("\n")}x`],
    ["application/x-www-form-urlencoded", filled("a&")],
    ["application/x-www-form-urlencoded", filled("%")],
    ["application/x-www-form-urlencoded", filled("%ff=&")],
    [MULTIPART, filled("--X\r\n")],
    [MULTIPART, filled("\r\n--X")],
    [MULTIPART, `--X\r\n${filled("\n")}`],
    [MULTIPART, `--X\r\n${filled("a\r\n")}\r\n\r\n--X--`],
    [MULTIPART, `--X\r\n${filled("a:\r\n ")}\r\n\r\n--X--`],
    [MULTIPART, `--X\r\nContent-Disposition: form-data${filled(';a="')}\r\n\r\n--X--`],
    [MULTIPART, `--X\r\nContent-Disposition: form-data${filled("; ")}\r\n\r\n--X--`],
    [MULTIPART, `--X\r\nContent-Disposition: form-data; name="${filled("\\")}\r\n\r\n--X--`],
    [MULTIPART, filled("--X\r\n\r\n\r\n")],
    ["text/plain", filled("a=")],
    ["text/plain", filled("\u00e9 ")],
    ["text/plain", filled("-- ")],
  ] as const)("parseSubmission reads a megabyte under %s that is built to be slow", ([contentType, body]) => {
    for (const bytes of [Buffer.from(body), Buffer.from(body, "latin1")]) {
      const parsed = parseSubmission({ body: bytes, contentType, query: "", encoding: null })
      assert.strictEqual(parsed.events.length, 1)
    }
  })
})

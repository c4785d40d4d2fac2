/** JSON in UTF-16 and UTF-32, with and without a byte order mark, is read alike in requests, files and polls. */
import iconv from "iconv-lite"
import { assert, describe, it } from "vitest"
import { jsonPieces } from "../../src/intake/LongBody.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { CharsetDetector, TextDecoding } from "../../src/text/FileCharset.ts"
import { bodyFields } from "../../src/verification/RequestFields.ts"
import { withoutToken } from "../../src/verification/HiddenToken.ts"

const CODECS = ["utf-16le", "utf-16be", "utf-32le", "utf-32be"]
const WIDE = CODECS.flatMap((codec) => [true, false].map((addBOM) => [codec, addBOM] as const))
const TEXT = '{"имя":"Ёж 😀","n":1.00}'
const LONG = `{"t":"${"文".repeat(3_000)}"}`

const parsed = (body: Buffer, contentType: string | undefined) => {
  const { events, charset, refusal } = parseSubmission({ body, contentType, query: "", encoding: null })
  return { texts: events.map(({ payload }) => jsonText(payload)), charset, refusal }
}

describe.each(WIDE)("JSON in %s, with a mark: %s", (codec, addBOM) => {
  const wide = (text: string) => iconv.encode(text, codec, { addBOM })
  const charset = { name: codec, decidedBy: "json", replaced: 0 } as const

  it.each([
    "application/json; charset=utf-16",
    `application/json; charset=${codec}`,
    "application/json",
    "application/problem+json; charset=windows-1251",
    "application/x-ndjson; charset=utf-16",
    "application/x-www-form-urlencoded",
    "text/plain; charset=utf-16",
    undefined,
  ])("parseSubmission reads it under %s", (contentType) => {
    for (const text of [TEXT, LONG]) {
      assert.deepStrictEqual(parsed(wide(text), contentType), { texts: [text], charset, refusal: null })
    }
  })

  it("parseSubmission reads batches and lines, and keeps other texts", () => {
    const list = parsed(wide(`[${TEXT},${TEXT}]`), "application/json")
    assert.deepStrictEqual(list, { texts: [TEXT, TEXT], charset, refusal: null })
    const lines = parsed(wide(`${TEXT}\r\n${TEXT}\n`), "application/x-ndjson")
    assert.deepStrictEqual(lines, { texts: [TEXT, TEXT], charset, refusal: null })
    const broken = parsed(wide('{"имя":"Ёж"'), "application/json")
    assert.strictEqual(broken.refusal?.error, "bad_json")
    assert.include(broken.texts[0], String.raw`"_raw":"{\"имя\":\"Ёж\""`)
    const other = parsed(wide("ab: ж\n"), "text/plain; charset=utf-16")
    assert.include(other.texts[0], String.raw`"_raw":"ab: ж\n"`)
    assert.deepStrictEqual(other.charset, { ...charset, decidedBy: "data" })
  })

  it("jsonPieces reads a long body", () => {
    const pieces = jsonPieces({ body: wide(LONG), contentType: "application/json", query: "", encoding: null })!
    let read = pieces()
    while (read === undefined) read = pieces()
    assert.strictEqual(read.json?.decoded.text, LONG)
  })

  it("bodyFields finds a token, which withoutToken masks in the charset of the body", () => {
    const headers = { "content-type": "application/json; charset=utf-16" }
    const request = { headers, query: "", body: wide('{"имя":"Ёж","token":"s3cr3t"}') }
    assert.strictEqual(bodyFields(request)("token"), "s3cr3t")
    const verification = { recipe: "token", mode: "mark", hmac: null, secrets: ["s3cr3t"], field: "token" } as const
    assert.deepStrictEqual(withoutToken(verification, request).body, wide('{"имя":"Ёж","token":"***"}'))
    const other = { ...request, body: wide(TEXT) }
    assert.strictEqual(withoutToken(verification, other).body, other.body)
  })

  it("CharsetDetector detects a long text that has little ASCII", () => {
    const detector = new CharsetDetector()
    detector.see(wide(LONG))
    const detected = detector.decide()
    assert.deepStrictEqual([detected.name, new TextDecoding(detected).write(wide(LONG))], [codec, LONG])
  })
})

it("parseSubmission reads UTF-8 that is declared as UTF-16, and replaces what no text can hold", () => {
  const declared = "application/json; charset=utf-16"
  assert.deepStrictEqual(parsed(Buffer.from(TEXT), declared).texts, [TEXT])
  const half = Buffer.concat([
    iconv.encode('{"a":"', "utf-16le"),
    Buffer.from([0x3d, 0xd8]),
    iconv.encode('"}', "utf-16le"),
  ])
  assert.deepStrictEqual(parsed(half, declared), {
    texts: ['{"a":"\uFFFD"}'],
    charset: { name: "utf-16le", decidedBy: "json", replaced: 1 },
    refusal: null,
  })
  const control = parsed(iconv.encode('{"a":"\u0001\uDC00"}', "utf-16le"), declared)
  assert.deepInclude(control.charset, { name: "utf-16le" })
  const latin = parsed(Buffer.from('{"a":"\u00E4b"}', "latin1"), declared)
  assert.deepStrictEqual(latin.texts, ['{"a":"\uFFFDb"}'])
  const cut = parsed(Buffer.concat([iconv.encode(TEXT, "utf-16le"), Buffer.from([65])]), declared)
  assert.strictEqual(cut.refusal?.error, "bad_json")
})

describe("JSON in a charset that is neither UTF-8 nor UTF-16", () => {
  const body = (text: string, codec: string) => iconv.encode(text, codec)
  const LEGACY = [
    ["windows-1251", "win1251", '{"имя":"Ёж"}'],
    ["iso-8859-1", "win1252", '{"stadt":"Köln"}'],
    ["Shift_JIS", "shiftjis", '{"表":"ソ\\"十"}'],
    ["gbk", "gb18030", '{"名":"王"}'],
  ] as const

  it.each(LEGACY)("parseSubmission reads it in the charset that its header declares: %s", (label, codec, text) => {
    for (const type of [
      "application/json",
      "application/x-ndjson",
      "text/plain",
      "application/x-www-form-urlencoded",
    ]) {
      const { texts, charset } = parsed(body(text, codec), `${type}; charset=${label}`)
      assert.deepStrictEqual(texts, [text])
      assert.deepInclude(charset, { decidedBy: "header", replaced: 0 })
      // Many senders declare a charset in which they do not send.
      const sent = parsed(Buffer.from(text), `${type}; charset=${label}`)
      assert.deepStrictEqual([sent.texts, sent.charset.name], [[text], "utf-8"])
    }
  })

  it("parseSubmission counts the bytes of JSON that no charset explains", () => {
    const { texts, charset } = parsed(body('{"a":"Ёж"}', "win1251"), "application/json")
    assert.deepStrictEqual(texts, ['{"a":"\uFFFD\uFFFD"}'])
    assert.deepStrictEqual(charset, { name: "utf-8", decidedBy: "json", replaced: 2 })
  })

  it("jsonPieces reads long bodies in the same charset", () => {
    const long = body(`{"t":"${"ж".repeat(70_000)}"}`, "win1251")
    const submission = { body: long, contentType: "application/json; charset=cp1251", query: "", encoding: null }
    const pieces = jsonPieces(submission)!
    let ahead = pieces()
    while (ahead === undefined) ahead = pieces()
    assert.deepStrictEqual(parseSubmission({ ...submission, ...ahead }), parseSubmission(submission))
  })

  it("withoutToken removes a token beside letters of which a byte is a backslash", () => {
    const headers = { "content-type": "application/json; charset=shift_jis" }
    const request = { headers, query: "", body: body('{"a":"ソ","token":"geheim"}', "shiftjis") }
    const masked = withoutToken({ recipe: "token", field: "token" } as never, request)
    assert.strictEqual(iconv.decode(Buffer.from(masked.body), "shiftjis"), '{"a":"ソ","token":"***"}')
  })
})

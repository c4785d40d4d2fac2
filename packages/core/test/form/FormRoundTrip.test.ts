/** The event contains what a person typed into a form, in each encoding, however the body was built and declared. */
import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { describe } from "vitest"
import { jsonText } from "../../src/json/JsonText.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { Random, Seed } from "../intake/Random.ts"

const ENCODINGS = [
  { name: "utf-8", source: "utf-8", codec: "utf8", letters: "aZ09 &=+%;\"'\\/<>\r\n\téßИваныёЇ€漢😀\uFFFD\u2028" },
  { name: "windows-1251", source: "windows-1251", codec: "win1251", letters: "aZ09 &=+%;\"'\\/<>\r\n\tИваныёЇґ€№«—" },
  { name: "latin1", source: "latin-1", codec: "win1252", letters: "aZ09 &=+%;\"'\\/<>\r\n\téßÄñŠœ€£«—" },
] as const
type Encoding = (typeof ENCODINGS)[number]
type Typed = ReadonlyArray<readonly [name: string, value: string]>

const urlencoded = (fields: Typed, { codec }: Encoding, random: Random): Buffer => {
  const encode = (text: string): string => {
    let encoded = ""
    for (const byte of iconv.encode(text, codec)) {
      const mustEscape = byte <= 32 || byte === 37 || byte === 38 || byte === 43 || byte === 61
      if (byte === 32 && random.below(2) === 0) encoded += "+"
      else if (mustEscape || random.below(2) === 0) encoded += `%${byte.toString(16).padStart(2, "0")}`
      else encoded += String.fromCharCode(byte)
    }
    return encoded
  }
  return Buffer.from(fields.map(([name, value]) => `${encode(name)}=${encode(value)}`).join("&"), "latin1")
}

/** As browsers write it: quotes and line ends of names are escaped, nothing else is. */
const multipart = (fields: Typed, { codec }: Encoding): Buffer => {
  const parts = fields.map(([name, value]) => {
    const escaped = name.replaceAll('"', "%22").replaceAll("\r", "%0D").replaceAll("\n", "%0A")
    return `--X\r\nContent-Disposition: form-data; name="${escaped}"\r\n\r\n${value}\r\n`
  })
  return iconv.encode(`${parts.join("")}--X--\r\n`, codec)
}

const expected = (fields: Typed): string => {
  const all = new Map<string, string | Array<string>>()
  for (const [name, value] of fields) {
    const held = all.get(name)
    all.set(name, held === undefined ? value : Array.isArray(held) ? [...held, value] : [held, value])
  }
  return jsonText(all)
}

describe("parseSubmission of typed fields", () => {
  it.prop(
    "parseSubmission restores any list of fields in each encoding, declared by source, header or _charset_, or detected as UTF-8",
    [Seed],
    ([seed]) => {
      const random = new Random(seed)
      const encoding = random.pick(ENCODINGS)
      const letters = [...encoding.letters]
      const asMultipart = random.below(2) === 0
      const text = (most: number, from: ReadonlyArray<string>) => random.list(most, () => random.pick(from)).join("")
      // A backslash in a multipart name is an escape for some senders and itself for others: left out.
      const nameLetters = asMultipart ? letters.filter((letter) => letter !== "\\" && letter !== "%") : letters
      const declared = random.pick(
        encoding.name === "utf-8" ? ["source", "header", "field", "data"] : ["source", "header", "field"],
      )
      const typed: Typed = [
        ...(declared === "field" ? [["_charset_", encoding.name] as const] : []),
        ...random.list(6, () => [`n${text(3, nameLetters)}`, text(8, letters)] as const),
        ["last", "1"],
      ]
      const charset = declared === "header" ? `; charset=${encoding.name}` : ""
      const parsed = parseSubmission({
        body: asMultipart ? multipart(typed, encoding) : urlencoded(typed, encoding, random),
        contentType: (asMultipart ? "multipart/form-data; boundary=X" : "application/x-www-form-urlencoded") + charset,
        query: "",
        encoding: declared === "source" ? encoding.source : null,
      })
      assert.strictEqual(jsonText(parsed.events[0]!.payload), expected(typed))
      assert.strictEqual(parsed.charset.decidedBy, declared === "field" ? "charset_field" : declared)
      assert.strictEqual(parsed.charset.replaced, 0)
    },
    { arbitrary: { runs: 3000 } },
  )
})

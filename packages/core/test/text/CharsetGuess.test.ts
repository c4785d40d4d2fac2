import { assert, it } from "@effect/vitest"
import iconv from "iconv-lite"
import { describe } from "vitest"
import { guessCharset } from "../../src/text/CharsetGuess.ts"

const CODEC: Readonly<Record<string, string>> = {
  "utf-8": "utf8",
  "windows-1251": "win1251",
  "windows-1252": "win1252",
}

describe("guessCharset", () => {
  it.for([
    ["utf-8", "plain"],
    ["utf-8", "Иван"],
    ["utf-8", "é"],
    ["utf-8", "😀"],
    ["windows-1251", "Иван Петров"],
    ["windows-1251", "name=Иван"],
    ["windows-1251", "Да"],
    ["windows-1251", "а"],
    ["windows-1251", "Ёлка"],
    ["windows-1251", "Їжак і єнот"],
    ["windows-1251", "ПРИВЕТ, МИР"],
    ["windows-1251", "iPhone 15 чёрный, б/у"],
    ["windows-1251", "USBшный кабель"],
    ["windows-1251", "отчёт_2024.pdf"],
    ["windows-1251", "№ 5"],
    ["windows-1251", "5 €"],
    ["windows-1251", "дом 12а"],
    ["windows-1251", "Ўладзімір"],
    ["windows-1251", "Привет from Muller"],
    ["windows-1251", "я и ты"],
    ["windows-1252", "Müller"],
    ["windows-1252", "Straße"],
    ["windows-1252", "naïve café"],
    ["windows-1252", "Il va à Paris"],
    ["windows-1252", "É vero"],
    ["windows-1252", "résumé déjà"],
    ["windows-1252", "éléphantée"],
    ["windows-1252", "situações"],
    ["windows-1252", "¿Qué? ¡Señor!"],
    ["windows-1252", "5 €"],
    ["windows-1252", "25 m²"],
    ["windows-1252", "£5"],
    ["windows-1252", "1º"],
    ["windows-1252", "Žižek Šimić Škoda"],
  ] as const)("guessCharset finds %s in %j", ([charset, text]) =>
    assert.strictEqual(guessCharset(iconv.encode(text, CODEC[charset]!)).name, charset),
  )

  it("guessCharset accepts UTF-8 with a few broken bytes", () => {
    assert.strictEqual(guessCharset(Buffer.concat([Buffer.from("Привет, мир"), Buffer.from([0xff])])).name, "utf-8")
    assert.strictEqual(guessCharset(Buffer.from("Привет, мир").subarray(0, -1)).name, "utf-8")
  })

  it("guessCharset follows the majority of a form's words", () => {
    assert.strictEqual(guessCharset(iconv.encode("name=Ä&text=Grüße aus München", "win1252")).name, "windows-1252")
    assert.strictEqual(guessCharset(iconv.encode("name=Rock и Roll&text=Привет всем", "win1251")).name, "windows-1251")
  })

  it("guessCharset cannot decide the examples in docs/intake.md", () => {
    assert.strictEqual(guessCharset(iconv.encode("Ні", "win1251")).name, "utf-8")
    assert.strictEqual(guessCharset(iconv.encode("Ä", "win1252")).name, "windows-1251")
    assert.strictEqual(guessCharset(iconv.encode("ÄÖÜ", "win1252")).name, "windows-1251")
  })

  const bytes = (...parts: ReadonlyArray<string | number>) =>
    guessCharset(
      Buffer.concat(parts.map((part) => (typeof part === "number" ? Buffer.of(part) : Buffer.from(part, "latin1")))),
    ).name

  it("guessCharset treats broken bytes as damage next to eight valid characters, four for each broken byte", () => {
    const name = (whole: string, broken: number) =>
      guessCharset(Buffer.concat([Buffer.from(whole), Buffer.alloc(broken, 0xff)])).name
    assert.strictEqual(name("д".repeat(8), 2), "utf-8")
    assert.notStrictEqual(name("д".repeat(8), 3), "utf-8")
    assert.notStrictEqual(name("д".repeat(7), 1), "utf-8")
    assert.strictEqual(name("д".repeat(12), 3), "utf-8")
    // ASCII is the same in every charset, so it counts for none.
    assert.notStrictEqual(name("plain words \x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f", 1), "utf-8")
  })

  it("guessCharset reads a one-letter word like the other words of its value", () => {
    for (const between of ["\n", "\0", "\x1f", "&", "="]) {
      assert.strictEqual(bytes("à", between, "Paris"), "windows-1251", between)
      assert.strictEqual(bytes("Paris", between, "à"), "windows-1251", between)
      assert.strictEqual(bytes("à Paris", between, "1"), "windows-1252", between)
      // It then counts for Cyrillic, and the euro sign counts against that.
      assert.strictEqual(bytes("à", between, 0x80), "windows-1251", between)
    }
    for (const between of [" ", "%", "'", "<", ">", "!"])
      assert.strictEqual(bytes("à", between, "Paris"), "windows-1252", between)
    assert.strictEqual(bytes("à ", 0x80), "windows-1251")
  })

  it("guessCharset accepts two high letters in a row in a western word, but not three", () => {
    assert.strictEqual(bytes("USB", 0xf8, 0xed), "windows-1252")
    assert.strictEqual(bytes("USB", 0xf8, 0xed, 0xfb), "windows-1251")
    assert.strictEqual(bytes("USB", 0xf8, 0xed, "x", 0xfb), "windows-1252")
    // A letter that is a sign in windows-1252 counts as one.
    assert.strictEqual(bytes("USB", 0xf8, 0xba, 0xfb), "windows-1251")
  })

  it("guessCharset reads a sign next to a digit as western", () => {
    for (const text of ["£0", "£9", "0º", "9º", "5\xb2"]) assert.strictEqual(bytes(text), "windows-1252", text)
    for (const text of ["£", "£/", "£:", "/º", ":º", "£ 5"]) assert.strictEqual(bytes(text), "windows-1251", text)
  })

  it("guessCharset weighs a longer word as four one-letter words, and a sign next to a digit as two", () => {
    // A tie is Cyrillic.
    assert.strictEqual(bytes("Müller ", 0xba, 0xe6), "windows-1251")
    assert.strictEqual(bytes("Müller Müller ", 0xba, 0xe6), "windows-1252")
    assert.strictEqual(bytes("Müller", " \xe6".repeat(3)), "windows-1252")
    assert.strictEqual(bytes("Müller", " \xe6".repeat(4)), "windows-1251")
    assert.strictEqual(bytes("Müller \xe9 ", 0xba, 0xe6), "windows-1252")
    assert.strictEqual(bytes("£5 \xe6"), "windows-1252")
    assert.strictEqual(bytes("£5 \xe6 \xe6"), "windows-1251")
    // The euro sign and № have these bytes in only one of the charsets.
    for (const sign of [0x88, 0xb9]) {
      assert.strictEqual(bytes(sign, " ", 0x80), "windows-1251")
      assert.strictEqual(bytes(sign, " ", 0x80, 0x80), "windows-1252")
    }
  })
})

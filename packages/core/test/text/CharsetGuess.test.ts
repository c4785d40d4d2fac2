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

  it("guessCharset cannot decide these, as docs/intake.md says", () => {
    assert.strictEqual(guessCharset(iconv.encode("Ні", "win1251")).name, "utf-8")
    assert.strictEqual(guessCharset(iconv.encode("Ä", "win1252")).name, "windows-1251")
    assert.strictEqual(guessCharset(iconv.encode("ÄÖÜ", "win1252")).name, "windows-1251")
  })
})

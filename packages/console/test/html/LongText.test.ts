import { longText, shortText } from "@data-cabinet/console/html/LongText"
import { escapeHtml, markup } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"

const shown = (text: string): string => markup`${longText(text)}`.text

/** Escaped, as they are in the page. */
const pieces = (text: string): ReadonlyArray<string> => piecesIn(shown(text))

const piecesIn = (html: string): ReadonlyArray<string> =>
  [...html.matchAll(/<bdi dir="ltr">([^<]*)<\/bdi>/g)].map(([, piece]) => piece!)

it("longText cuts no character in two, leaves nothing out, and has no long piece", () => {
  const texts = ["😀", "x😀", "<&\r", "é\u0301", "\u{1F468}\u200D\u{1F469}", "word ", "line\n"].map((one) =>
    one.repeat(3_000),
  )
  for (const text of texts) {
    const all = pieces(text)
    assert.isAbove(all.length, 1)
    assert.strictEqual(all.join(""), escapeHtml(text))
    for (const piece of all) assert.isTrue(piece.isWellFormed())
    assert.isAtMost(Math.max(...all.map((piece) => piece.length)), 1_025 * 5)
  }
  assert.strictEqual(longText("short <"), "short <")
})

it("a piece ends after a line, else after a word, if one ends in its second half", () => {
  const ends = (text: string) => pieces(text).map((piece) => piece.slice(-3))
  assert.deepStrictEqual(ends(`${"a".repeat(600)} b\n${"c d ".repeat(150)}`), [" b\n", " d "])
  assert.deepStrictEqual(ends(`${"a".repeat(600)} ${"b".repeat(600)}`), ["aa ", "bbb"])
  assert.deepStrictEqual(ends(`a ${"b".repeat(1_200)}`), ["bbb", "bbb"])
})

it("a change of direction ends with its piece", () => {
  const all = pieces(`\u202E${"x".repeat(2_000)}`)
  assert.strictEqual(all.filter((piece) => piece.includes("\u202E")).length, 1)
})

it("a very long text is in chunks, which hold all of it", () => {
  const chunks = (text: string) => shown(text).split('<span class="chunk">').slice(1)
  assert.lengthOf(chunks("x".repeat(65_536)), 0)
  for (const unit of ["x", "word ", "😀"]) {
    const text = unit.repeat(Math.ceil(70_000 / unit.length))
    assert.strictEqual(pieces(text).join(""), text)
    const all = chunks(text)
    assert.isAtLeast(all.length, 5)
    for (const chunk of all) assert.isAtMost(piecesIn(chunk).join("").length, 16_385)
  }
})

it("shortText keeps the beginning and the end of a long text, and halves no character", () => {
  const url = `https://example.com/${"🏳️‍🌈".repeat(200)}/inbound`
  const short = shortText(url)
  assert.strictEqual(shortText("https://example.com/hook"), "https://example.com/hook")
  assert.match(short, /^https:\/\/example\.com\/.*….*\/inbound$/u)
  assert.isAtMost(short.length, 97)
  assert.isTrue(short.isWellFormed())
})

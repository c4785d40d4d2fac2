import { longText } from "@data-cabinet/console/html/LongText"
import { escapeHtml, markup } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"

const pieces = (text: string): ReadonlyArray<string> => markup`${longText(text)}`.text.split("</span><span>")

it("longText cuts no character in two, leaves nothing out, and has no long piece", () => {
  const texts = ["😀", "x😀", "<&\r", "é\u0301", "\u{1F468}\u200D\u{1F469}"].map((one) => one.repeat(3_000))
  for (const text of texts) {
    const shown = pieces(text)
    assert.isAbove(shown.length, 1)
    assert.strictEqual(shown.join("").replace(/^<span>|<\/span>$/g, ""), escapeHtml(text))
    for (const piece of shown) assert.isTrue(piece.isWellFormed())
    assert.isAtMost(Math.max(...shown.map((piece) => piece.length)), 1_025 * 5 + 13)
  }
  assert.strictEqual(longText("short <"), "short <")
})

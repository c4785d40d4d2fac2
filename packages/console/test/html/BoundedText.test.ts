import { WORDS } from "@data-cabinet/console/words/Words"
import { unescapeHtml } from "@data-cabinet/http-node/html/Html"
import { assert, it } from "vitest"
import { boundedText } from "@data-cabinet/console/html/LongText"

const textIn = (html: string) => unescapeHtml(html.replaceAll(/<[^>]*>/g, ""))

it("boundedText holds the whole text, and folds one of more than 2,048 characters or 24 lines", () => {
  for (const [text, folded] of [
    ["short", false],
    ["x".repeat(2_048), false],
    ["x".repeat(2_049), true],
    ["<b>&".repeat(5_000), true],
    ["a\n".repeat(24), false],
    ["a\n".repeat(25), true],
  ] as const) {
    const { text: html } = boundedText(WORDS.en, text, "mono", "value-3")
    const [, value = ""] = /^<span class="value[^"]*" id="value-3">(.*?)<\/span>(?:<details|$)/s.exec(html) ?? []
    assert.strictEqual(textIn(value), text)
    assert.strictEqual(html.includes("<details"), folded, text.slice(0, 9))
  }
  assert.include(boundedText(WORDS.en, "x".repeat(1_000_000), "").text, "Show all 1,000,000 characters")
})

it("boundedText marks an empty text", () => {
  assert.match(boundedText(WORDS.en, "", "").text, /class="value e"/)
})

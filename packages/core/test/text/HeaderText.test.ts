import { headerText } from "@data-cabinet/core/text/HeaderText"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

/** As Node returns a header: one character per byte. */
const sent = (text: string) => Buffer.from(text).toString("latin1")

it.each([
  ["", ""],
  ["text/plain; q=0.9 ~", "text/plain; q=0.9 ~"],
  ["a\tb", "a\tb"],
  ["\0\x08\x0a\x1f \x7f", "\uFFFD\uFFFD\uFFFD\uFFFD \uFFFD"],
  [sent("Заказ № 5"), "Заказ № 5"],
  [sent("\uFEFFx"), "\uFEFFx"],
  // Bytes that are not UTF-8 stay as Node reads them: Latin-1.
  ["caf\xe9", "café"],
  // Already decoded by another program.
  ["Заказ", "Заказ"],
  ["Заказ\xe9\0\ud800", "Заказé\uFFFD\uFFFD"],
] as const)("headerText reads %j", (value, text) => {
  assert.strictEqual(headerText(value), text)
})

it.prop(
  "headerText restores any UTF-8 text, except control characters, which PostgreSQL or a terminal may refuse",
  [Schema.String],
  ([text]) => {
    const read = headerText(sent(text))
    assert.strictEqual(read, text.toWellFormed().replaceAll(/[^\P{Cc}\t\x80-\x9f]/gu, "\uFFFD"))
    assert.isTrue(read.isWellFormed())
  },
)

import { positionInWords, textPosition } from "@data-cabinet/core/text/TextPosition"
import { assert, it } from "vitest"

it.each([
  ["", 0, 1, 1],
  ["ab", 2, 1, 3],
  ["a\nb", 1, 1, 2],
  ["a\nb", 2, 2, 1],
  ["a\r\nb", 2, 1, 3],
  ["a\r\nb", 3, 2, 1],
  ["a\rb", 2, 2, 1],
  ["a\r\r\n\n\rb", 6, 5, 1],
  ["😀\nx😀y", 6, 2, 4],
] as const)("textPosition in %j counts lines and columns up to %i as an editor does", (text, offset, line, column) => {
  const position = textPosition(text, offset)
  assert.deepStrictEqual(position, { offset, line, column })
  assert.strictEqual(positionInWords(position), `line ${line}, column ${column} (offset ${offset})`)
})

/** No text from outside can control a terminal. */
import { plainBytes, plainJson, plainLines, plainOutput, plainText } from "data-cabinet/output/PlainText"
import { styleFor } from "data-cabinet/output/Style"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const HOSTILE = "\u001b]0;title\u0007\u001b[2J\u009b2J\u007f\u202egnp.exe\u2028\u0085"

it("plainText shows control and direction characters as their codes, in one line", () => {
  assert.strictEqual(plainText("a\u001b[2Jb\nc\td\re\u202e"), "a\\u001b[2Jb⏎c de\\u202e")
  assert.strictEqual(plainLines("a\u0007\nb"), "a\\u0007\nb")
})

it("plainOutput keeps lines and the colours of a style, and nothing else that a terminal acts on", () => {
  const colours = styleFor({ isTTY: true })
  const painted = [colours.bold, colours.dim, colours.red, colours.green, colours.yellow, colours.cyan].map((paint) =>
    paint("x"),
  )
  assert.strictEqual(plainOutput(painted.join("\n")), painted.join("\n"))
  assert.strictEqual(
    plainOutput(`\u001b[31mfailed\u001b[39m: ${HOSTILE}\r\n\u001b[8m\u001b[?1049h`),
    "\u001b[31mfailed\u001b[39m: \\u001b]0;title\\u0007\\u001b[2J\\u009b2J\\u007f\\u202egnp.exe\\u2028\\u0085\n\\u001b[8m\\u001b[?1049h",
  )
})

it("plainJson parses to the same value", () => {
  const value = { [HOSTILE]: [HOSTILE, "ключ 🐱\n"] }
  const plain = plainJson(JSON.stringify(value))
  assert.notMatch(plain, /[\p{Cc}\u202e\u2028]/u)
  assert.deepStrictEqual(JSON.parse(plain), value)
})

it.prop(
  "plainBytes gives the same result however the bytes are split",
  [Schema.String, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))],
  ([text, size]) => {
    const bytes = Buffer.from(`${HOSTILE}${text}🐱`)
    const plain = plainBytes()
    let said = ""
    for (let at = 0; at < bytes.length; at += size) said += plain(bytes.subarray(at, at + size))
    assert.strictEqual(said, plainBytes()(bytes))
    assert.notMatch(said, /[^\P{Cc}\n\r\t]|\u202e/u)
  },
)

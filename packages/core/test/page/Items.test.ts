import { AHEAD, BEHIND, type Items, joined } from "@data-cabinet/core/page/Items"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const between = (items: Items, head: string, tail: string): string =>
  Buffer.from(items.between(Buffer.from(head), Buffer.from(tail))).toString()

it.prop(
  "joined are each by itself still, and all between a head and a tail",
  [Schema.Array(Schema.String)],
  ([given]) => {
    const texts = given.map((text) => JSON.stringify(text.toWellFormed()))
    const items = joined(texts.map((text) => Buffer.from(text)))
    assert.strictEqual(items.length, texts.length)
    assert.strictEqual(between(items, "head", "end"), `head${texts.join()}end`)
    assert.deepStrictEqual(items.texts(), texts)
  },
)

it("have room around them, and are copied where it is not enough", () => {
  for (const [head, tail] of [
    [AHEAD, BEHIND],
    [AHEAD + 1, BEHIND],
    [AHEAD, BEHIND + 9],
  ] as const) {
    const items = joined([Buffer.from("1"), Buffer.from("22")])
    assert.strictEqual(between(items, "h".repeat(head), "t".repeat(tail)), `${"h".repeat(head)}1,22${"t".repeat(tail)}`)
    assert.deepStrictEqual(items.texts(), ["1", "22"])
  }
})

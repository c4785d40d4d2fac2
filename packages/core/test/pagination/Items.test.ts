import { AHEAD, BEHIND, Items, NO_ITEMS } from "@data-cabinet/core/pagination/Items"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

/** Contiguous items with room around them. */
const lying = (texts: ReadonlyArray<string>): Items => {
  const ends: Array<number> = []
  for (const text of texts) ends.push((ends.at(-1) ?? AHEAD - 1) + 1 + Buffer.byteLength(text))
  return new Items(Buffer.concat([Buffer.alloc(AHEAD), Buffer.from(texts.join()), Buffer.alloc(BEHIND)]), AHEAD, ends)
}

const between = (items: Items, head: string, tail: string): string =>
  Buffer.from(items.between(Buffer.from(head), Buffer.from(tail))).toString()

it.prop("items are separated between a head and a tail", [Schema.Array(Schema.String)], ([given]) => {
  const texts = given.map((text) => JSON.stringify(text.toWellFormed()))
  const items = lying(texts)
  assert.strictEqual(items.length, texts.length)
  assert.strictEqual(between(items, "head", "end"), `head${texts.join()}end`)
  assert.deepStrictEqual(items.texts(), texts)
})

it("have reserved room around them, and are copied when it is too small", () => {
  for (const [head, tail] of [
    [AHEAD, BEHIND],
    [AHEAD + 1, BEHIND],
    [AHEAD, BEHIND + 9],
  ] as const) {
    const items = lying(["1", "22"])
    assert.strictEqual(between(items, "h".repeat(head), "t".repeat(tail)), `${"h".repeat(head)}1,22${"t".repeat(tail)}`)
    assert.deepStrictEqual(items.texts(), ["1", "22"])
  }
})

it("items are not shared by pages with different fields", () => {
  const one = NO_ITEMS.between(Buffer.from("["), Buffer.from("] one"))
  const other = NO_ITEMS.between(Buffer.from("{"), Buffer.from("} other"))
  assert.deepStrictEqual([one, other].map(String), ["[] one", "{} other"])
})

it("the first items are as many as requested, or all", () => {
  const items = lying(["1", "22", "333"])
  for (const [most, texts] of [
    [0, []],
    [2, ["1", "22"]],
    [3, ["1", "22", "333"]],
    [4, ["1", "22", "333"]],
  ] as const) {
    assert.deepStrictEqual(items.first(most).texts(), texts)
    assert.strictEqual(items.first(most).length, texts.length)
    assert.strictEqual(between(lying(["1", "22", "333"]).first(most), "[", "]"), `[${texts.join()}]`)
  }
})

it("are not copied if all are requested, nor if there is just room for the head and the tail", () => {
  const items = lying(["1", "22"])
  assert.strictEqual(items.first(2), items)
  const bytes = Buffer.alloc(AHEAD + 4 + BEHIND)
  const { buffer } = new Items(bytes, AHEAD, [AHEAD + 4]).between(Buffer.alloc(AHEAD), Buffer.alloc(BEHIND))
  assert.strictEqual(buffer, bytes.buffer)
})

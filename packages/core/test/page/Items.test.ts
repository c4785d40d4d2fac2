import { Items, NO_ITEMS } from "@data-cabinet/core/page/Items"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

const texts = Schema.Array(Schema.String)

/** The texts with a comma between each two, `ahead` bytes into a buffer that goes on for `behind` more. */
const itemsOf = (given: ReadonlyArray<string>, ahead: number, behind: number): Items => {
  const ends: Array<number> = []
  let end = ahead - 1
  for (const text of given) ends.push((end += 1 + Buffer.byteLength(text)))
  return new Items(Buffer.from(" ".repeat(ahead) + given.join(",") + " ".repeat(behind)), ahead, ends)
}

it.prop(
  "are each by itself, and all between a head and a tail, whether there is room for them or not",
  [texts],
  ([given]) => {
    const items = given.map((text) => JSON.stringify(text.toWellFormed()))
    for (const [ahead, behind] of [
      [0, 0],
      [3, 3],
      [4, 2],
      [4, 3],
      [9, 9],
    ] as const) {
      const page = itemsOf(items, ahead, behind)
      assert.strictEqual(page.length, items.length)
      assert.strictEqual(
        Buffer.from(page.between(Buffer.from("head"), Buffer.from("end"))).toString(),
        `head${items.join()}end`,
      )
      assert.deepStrictEqual(page.texts(), items)
    }
  },
)

it("may be none", () => {
  assert.strictEqual(Buffer.from(NO_ITEMS.between(Buffer.from("["), Buffer.from("]"))).toString(), "[]")
  assert.deepStrictEqual(NO_ITEMS.texts(), [])
})

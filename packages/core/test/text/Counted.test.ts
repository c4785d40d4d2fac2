import { counted } from "@data-cabinet/core/text/Counted"
import { assert, it } from "vitest"

it("counted uses the singular only for one, and a given plural", () => {
  const words = (count: number) => [counted(count, "row"), counted(count, "entry", "entries")]
  assert.deepStrictEqual(words(0), ["0 rows", "0 entries"])
  assert.deepStrictEqual(words(1), ["1 row", "1 entry"])
  assert.deepStrictEqual(words(11), ["11 rows", "11 entries"])
})

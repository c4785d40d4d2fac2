import { counted } from "@data-cabinet/core/text/Counted"
import { assert, it } from "vitest"

it("counted has the singular for one alone, and a plural of its own where it is given", () => {
  const words = (count: number) => [counted(count, "row"), counted(count, "entry", "entries")]
  assert.deepStrictEqual(words(0), ["0 rows", "0 entries"])
  assert.deepStrictEqual(words(1), ["1 row", "1 entry"])
  assert.deepStrictEqual(words(11), ["11 rows", "11 entries"])
})

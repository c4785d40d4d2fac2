import { parseLimit } from "@data-cabinet/core/pagination/Page"
import { assert, describe, it } from "@effect/vitest"

describe("parseLimit", () => {
  it("accepts only integers from 1 to 1000", () => {
    assert.deepStrictEqual(["1", "100", "1000", "007"].map(parseLimit), [1, 100, 1000, 7])
    for (const text of ["", "0", "1001", "-1", "+1", "1.0", "1e2", "0x10", " 1", "1 ", "１", "NaN", "9".repeat(400)]) {
      assert.isUndefined(parseLimit(text), text)
    }
  })
})

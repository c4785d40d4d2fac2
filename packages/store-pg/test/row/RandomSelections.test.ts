import { describe, it } from "vitest"
import { randomSelections } from "./randomSelections.ts"

describe("a selection with OR groups and several sorts", () => {
  const compare = randomSelections()

  it("returns over its pages the rows of one statement in their order, for random selections", () => compare(1, 200))
})

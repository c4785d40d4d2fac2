import { describe, it } from "vitest"
import { randomSelections } from "./randomSelections.ts"

describe("2,000 selections with OR groups and several sorts", () => {
  const compare = randomSelections()

  it.each([2, 3, 4, 5, 6, 7, 8, 9])(
    "return over their pages the rows of one statement in their order, seed %d",
    (seed) => compare(seed, 250),
  )
})

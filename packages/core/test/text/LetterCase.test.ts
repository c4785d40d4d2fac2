import { foldCase } from "@data-cabinet/core/text/LetterCase"
import { expect, it } from "vitest"
import { ALIKE, APART } from "../../../../test/support/letterCase.ts"

it.each(ALIKE)("%s and %s are searched as one", (one, other) => {
  expect(foldCase(one)).toBe(foldCase(other))
})

it.each(APART)("%s and %s are searched as different texts", (one, other) => {
  expect(foldCase(one)).not.toBe(foldCase(other))
})

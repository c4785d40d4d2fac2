/** The search that no text can slow down finds what the built-in one finds. */
import { containsText, searchForward } from "@data-cabinet/core/text/ContainsText"
import { expect, it } from "vitest"

/** Every text of these letters, up to a length. */
const textsUpTo = (length: number): ReadonlyArray<string> => {
  const all = [""]
  for (let at = 0; all[at]!.length < length; at++) all.push(`${all[at]}a`, `${all[at]}b`)
  return all
}

it("searchForward agrees with String.includes for every short text and pattern of two letters", () => {
  const patterns = textsUpTo(5)
  for (const text of textsUpTo(9)) {
    const found = patterns.filter((pattern) => searchForward(text, pattern))
    expect(found).toEqual(patterns.filter((pattern) => text.includes(pattern)))
  }
})

it("containsText finds a long pattern at the end of a long text, and misses one that differs in a letter", () => {
  const text = "a".repeat(100_000)
  const pattern = `${"a".repeat(499)}b${"a".repeat(500)}`
  expect(containsText(text, pattern)).toBe(false)
  expect(containsText(text + pattern, pattern)).toBe(true)
})

/** The same matches as JavaScript's, in time that a text cannot multiply. */
import { linearPattern } from "@data-cabinet/core/schema/LinearPattern"
import { Result } from "effect"
import { assert, expect, it } from "vitest"
import { randomOf, seeded, type Random } from "../../../../test/support/random.ts"

const compiled = (source: string) => Result.getOrThrow(linearPattern(source, 2_000))

const PARTS = [
  "a",
  "b",
  "[ab]",
  "[^a]",
  ".",
  "\\d",
  "\\w",
  "(a|b)",
  "(?:ab)",
  "^",
  "$",
  "\\u0061",
  "\\.",
  "[\\]x]",
  "é",
  "😀",
]
const SIGNS = ["", "", "", "*", "+", "?", "{2}", "{0,2}", "{1,}", "+?", "*?"]
const LETTERS = ["a", "b", "1", ".", "x", "]", "é", "😀", "\n"]

const randomPattern = (random: Random, depth = 0): string =>
  Array.from({ length: 1 + random(4) }, () => {
    const part = depth < 2 && random(5) === 0 ? `(${randomPattern(random, depth + 1)})` : randomOf(random, PARTS)
    return part + (part === "^" || part === "$" ? "" : randomOf(random, SIGNS)) + (random(8) === 0 ? "|" : "")
  }).join("")

it("finds what JavaScript finds", () => {
  const random = seeded(7)
  for (let n = 0; n < 1_500; n++) {
    const source = randomPattern(random)
    const pattern = compiled(source)
    const expression = new RegExp(source, "u")
    for (let k = 0; k < 5; k++) {
      const text = Array.from({ length: random(7) }, () => randomOf(random, LETTERS)).join("")
      assert.equal(
        pattern.matches(text, () => {}),
        expression.test(text),
        `${source} in ${JSON.stringify(text)}`,
      )
    }
  }
})

it.each([
  ["(a+)+$", "a"],
  ["^(a|aa)*$", "a"],
  ["(x*)*y", "x"],
])("takes steps in proportion to the text for %s", (source, letter) => {
  const stepsOf = (length: number) => {
    let steps = 0
    assert.isFalse(compiled(source).matches(`${letter.repeat(length)}!`, (some) => void (steps += some)))
    return steps
  }
  expect(stepsOf(20_000)).toBeLessThan(stepsOf(2_000) * 11)
})

it("refuses what needs backtracking, and what is too large, in words", () => {
  const why = (source: string) => Result.getOrThrow(Result.flip(linearPattern(source, 2_000)))
  expect(why("(")).toBe("it is not a regular expression")
  expect(why("(?=a)")).toContain("lookahead")
  expect(why("(a)\\1")).toContain("back reference")
  expect(why("\\bword")).toContain("\\b")
  expect(why("(a{500}){500}")).toBe("it repeats too much")
  expect(why("(".repeat(60) + ")".repeat(60))).toContain("parentheses")
})

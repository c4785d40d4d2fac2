/** Searching one text for many others finds what the built-in search finds, with the index and without it. */
import { SearchedText } from "@data-cabinet/core/text/SearchedText"
import { TextIndex } from "@data-cabinet/core/text/TextIndex"
import { expect, it } from "vitest"

/** Every text of these letters, up to a length. */
const textsUpTo = (length: number, letters: string): ReadonlyArray<string> => {
  const all = [""]
  for (let at = 0; all[at]!.length < length; at++) for (const letter of letters) all.push(`${all[at]}${letter}`)
  return all
}

it.each([
  ["ab", 8, 5],
  ["aя\u{1F600}", 4, 3],
])("TextIndex agrees with String.includes for every short text of %j", (letters, longest, sought) => {
  const patterns = textsUpTo(sought, letters)
  for (const text of textsUpTo(longest, letters)) {
    const index = TextIndex.of(text)
    const found = patterns.filter((pattern) => index.contains(pattern))
    expect(found, text).toEqual(patterns.filter((pattern) => text.includes(pattern)))
  }
})

it("SearchedText finds the same before its index is made, with it, and past the length that the index compares", () => {
  const text = `${"ab".repeat(3_000)}c`
  const sought = ["", "a", "bc", "cb", "c", text, `${text}a`, text.slice(1), "ba".repeat(2_500), "bb".repeat(2_500)]
  const expected = sought.map((one) => text.includes(one))
  for (const indexMillis of [-1, Number.POSITIVE_INFINITY]) {
    const searched = new SearchedText(text, { indexMillis })
    for (let round = 0; round < 2; round++) expect(sought.map((one) => searched.contains(one))).toEqual(expected)
  }
})

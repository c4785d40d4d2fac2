/** Sentences stay as they are written, whatever is named in them. */
import { isolated, isolatedWords, unturned } from "@data-cabinet/console/words/IsolatedWords"
import { expect, it } from "vitest"

/** What a mark leaves open, as the algorithm of Unicode matches them. */
const openAfter = (text: string): ReadonlyArray<string> => {
  const open: Array<string> = []
  for (const [mark] of text.matchAll(/[\u202a-\u202e\u2066-\u2069]/g)) {
    const isolate = open.findLastIndex((one) => one >= "\u2066")
    if (mark === "\u2069") {
      if (isolate >= 0) open.length = isolate
    } else if (mark !== "\u202c") open.push(mark)
    else if (open.length > isolate + 1) open.pop()
  }
  return open
}

/** All texts of up to four of these. */
const TEXTS = Array.from({ length: 4 }).reduce<ReadonlyArray<string>>(
  (all) => [
    "",
    ...all.flatMap((text) => [..."\u202b\u202c\u202e\u2066\u2068\u2069\u05d0a"].map((mark) => text + mark)),
  ],
  [""],
)

it("isolated opens one unit that lasts to its end, whatever marks the text has", () => {
  for (const text of TEXTS) {
    const made = isolated(text)
    expect(openAfter(made)).toEqual([])
    if (made === text) expect(text).toMatch(/^a*$/)
    // The outermost unit is open until the last character.
    else for (let end = 1; end < made.length; end++) expect(openAfter(made.slice(0, end))[0]).toBe("\u2068")
  }
})

it("isolatedWords isolates the texts in sentences, and nothing else", () => {
  const words = isolatedWords({ name: "Name", in: { says: (name: string, n: number) => `${name}: ${n}` } })
  expect(words.name).toBe("Name")
  expect(words.in.says("Ada", 3)).toBe("Ada: 3")
  expect(words.in.says("\u202eevil", 3)).toBe("\u2068\u202eevil\u2069: 3")
})

it("unturned shows the marks of a finished sentence, so that they turn nothing", () => {
  expect(unturned("Source 3 (\u202eevil\u2066) failed.")).toBe("Source 3 (\ufffdevil\ufffd) failed.")
  expect(unturned("\u05d0\u05d1 1")).toBe("\u05d0\u05d1 1")
})

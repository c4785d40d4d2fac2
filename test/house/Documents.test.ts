/** Documents that tend to grow keep their size and structure. */
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")
const read = (path: string) => readFileSync(join(root, path), "utf8")

/** Counts words as a reader does, without the rules of tables. */
const words = (text: string): number => text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length

it("the page on performance has at most 1,000 words, and begins with a summary of ten lines", () => {
  const page = read("docs/performance.md")
  assert.isAtMost(words(page), 1_000)
  const [, summary = ""] = /^# .*\n\n([^]*?)\n\n/.exec(page) ?? []
  assert.match(summary, /^- /)
  assert.isAtMost(summary.split("\n").length, 10)
})

it("ARCHITECTURE.md has at most 1,200 words", () => {
  assert.isAtMost(words(read("ARCHITECTURE.md")), 1_200)
})

it("every decision is numbered, dated, and has its context and consequences", () => {
  const records = readdirSync(join(root, "docs/decisions")).filter((name) => name !== "README.md")
  assert.isAbove(records.length, 40)
  const index = read("docs/decisions/README.md")
  for (const name of records) {
    const record = read(`docs/decisions/${name}`)
    const number = name.slice(0, 4)
    assert.match(record, new RegExp(`^# ${number}\\. `), name)
    assert.match(record, /^- Date: \d{4}-\d\d-\d\d$/m, name)
    assert.match(record, /^## Context$/m, name)
    assert.match(record, /^## Consequences?$/m, name)
    assert.include(index, `(${name})`)
  }
})

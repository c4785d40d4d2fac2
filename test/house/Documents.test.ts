/** Documents that tend to grow keep their size and structure. */
import { globSync, readdirSync, readFileSync } from "node:fs"
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

it("the page on upgrades has a section for each step to a newer minor version, the pending one as well, and is found", () => {
  const page = read("docs/upgrading.md")
  const released = [...read("CHANGELOG.md").matchAll(/^## (\d+\.\d+)\.0$/gm)].map(([, version]) => version!).reverse()
  const notes = globSync(".changeset/*.md", { cwd: root }).map(read)
  const [major, minor] = released.at(-1)!.split(".").map(Number)
  const pending = notes.some((note) => /^"?data-cabinet"?: minor$/m.test(note)) ? [`${major}.${minor! + 1}`] : []
  const versions = [...released, ...pending]
  assert.isAbove(versions.length, 1)
  for (const [n, version] of versions.slice(1).entries()) {
    assert.include(page, `\n## From ${versions[n]} to ${version}\n`)
  }
  for (const from of ["README.md", "docs/operations.md", "docs/processes.md"]) {
    assert.match(read(from), /\]\((docs\/)?upgrading\.md[)#]/, from)
  }
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

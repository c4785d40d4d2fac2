/** Where the results of a run are written. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { placeMissing, writeResults } from "./table.ts"

let directory: string

beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), "dc-results-"))
})

afterAll(() => rmSync(directory, { recursive: true }))

const written = (name: string, text: string): string => {
  const file = join(directory, name)
  writeFileSync(file, text)
  return file
}

describe("Results", () => {
  it("replace the previous ones in a document, and nothing else", () => {
    const file = written("a.md", "# Performance\n\n<!-- results -->\n<!-- end of results -->\n\n## Why\n")
    writeResults(file, "first\n\n")
    writeResults(file, "second\n")
    assert.equal(
      readFileSync(file, "utf8"),
      "# Performance\n\n<!-- results -->\n\nsecond\n\n<!-- end of results -->\n\n## Why\n",
    )
  })

  it("are the whole content of a new file", () => {
    const file = join(directory, "new.md")
    assert.isUndefined(placeMissing(file))
    writeResults(file, "first\n")
    assert.equal(readFileSync(file, "utf8"), "first\n")
  })

  it("are not written into a document that lacks a marker for them", () => {
    for (const text of ["# Readme\n", "# Readme\n<!-- results -->\n", "<!-- end of results -->\n<!-- results -->\n"]) {
      const file = written("readme.md", text)
      assert.include(placeMissing(file), "readme.md has no place for results")
      assert.throws(() => writeResults(file, "first"), /no place/)
      assert.equal(readFileSync(file, "utf8"), text)
    }
  })
})

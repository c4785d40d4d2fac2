/** Each decision record is in the index, under its own title, and linked from the header of the file that it explains. */
import { execFileSync } from "node:child_process"
import { readdirSync, readFileSync } from "node:fs"
import { join } from "node:path"
import { assert, it } from "vitest"

const root = join(import.meta.dirname, "..", "..")
const folder = join(root, "docs", "decisions")
const records = readdirSync(folder).filter((name) => /^\d{4}-.*\.md$/.test(name))
const index = readFileSync(join(folder, "README.md"), "utf8")

const sources = execFileSync("git", ["ls-files", "packages", "scripts"], { cwd: root, encoding: "utf8" })
  .split("\n")
  .filter((path) => /^(?:packages\/\w[\w-]*\/src|scripts)\/.*\.(?:ts|mjs)$/.test(path))
const linked = new Set(
  sources.flatMap((path) =>
    [...readFileSync(join(root, path), "utf8").matchAll(/docs\/decisions\/([\w-]+\.md)/g)].map(([, name]) => name!),
  ),
)

it("every record is in the index once, under its own title", () => {
  assert.isAbove(records.length, 70)
  const wrong = records.filter((name) => {
    const title = /^# (\d{4})\. (.+)$/m.exec(readFileSync(join(folder, name), "utf8"))!
    const entries = index.split("\n").filter((line) => line.startsWith(`- [${title[1]}](${name}) · `))
    return entries.length !== 1 || !entries[0]!.endsWith(` · ${title[2]}`)
  })
  assert.deepEqual(wrong, [])
})

it("every record is linked from a source file, and every link leads to a record", () => {
  assert.deepEqual(
    records.filter((name) => !linked.has(name)),
    [],
  )
  assert.deepEqual(
    [...linked].filter((name) => !records.includes(name)),
    [],
  )
})

/** SECURITY.md names the tests that prove its lines: each path that it cites exists, and has a test of the quoted name. */
import { existsSync, readFileSync } from "node:fs"
import { expect, it } from "vitest"

const root = new URL("../../", import.meta.url)
const text = readFileSync(new URL("SECURITY.md", root), "utf8")

/** A path in the text, followed by the name of a test, if there is one. */
const CITED = /`([^`\s]+\.test\.ts)`(?:: "([^"]+)")?/g

const cited = [...text.matchAll(CITED)].map(([, path, name]) => ({ path: path!, name }))

it("SECURITY.md cites only tests that exist", () => {
  expect(cited.length).toBeGreaterThan(50)
  const missing = cited.filter(({ path, name }) => {
    const file = new URL(path, root)
    return !existsSync(file) || (name !== undefined && !readFileSync(file, "utf8").includes(`"${name}"`))
  })
  expect(missing).toEqual([])
})

it("every line of SECURITY.md about who can do what has a test, or says that it has none", () => {
  const [, part] = /## Who can do what\n([^]*?)\n## /.exec(text)!
  const lines = part!.split("\n").filter((line) => /^\| (?!what |-)/.test(line))
  expect(lines.length).toBeGreaterThan(40)
  const held = /^\| [^|]+ \| [^|]+ \| (?:embedded: )?(?:`\S+\.test\.ts`: "|none\b)[^|]* \|$/
  expect(lines.filter((line) => !held.test(line))).toEqual([])
})

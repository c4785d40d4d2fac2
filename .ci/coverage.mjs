/** Prints how much of each package's code a run has run: `coverage.mjs SUMMARY`, which is vitest's. */
import { existsSync, readFileSync } from "node:fs"
import { relative } from "node:path"

const [summary] = process.argv.slice(2)
if (existsSync(summary)) {
  const { total, ...files } = JSON.parse(readFileSync(summary, "utf8"))
  const packages = new Map()
  for (const [file, { lines }] of Object.entries(files)) {
    const name = relative("packages", file).split("/")[0]
    const { covered, all } = packages.get(name) ?? { covered: 0, all: 0 }
    packages.set(name, { covered: covered + lines.covered, all: all + lines.total })
  }
  const parts = [...packages].map(([name, { covered, all }]) => `${name} ${((100 * covered) / all).toFixed(1)} %`)
  const { lines, branches } = total
  process.stdout.write(
    `coverage: ${lines.pct} % of the lines and ${branches.pct} % of the branches (lines of ${parts.join(", ")}), in the tests' own processes alone\n`,
  )
}

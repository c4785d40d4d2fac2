/** The results as Markdown: what `cabinet bench` prints, and what docs/performance.md holds of the last run. */
import { existsSync, readFileSync, writeFileSync } from "node:fs"
import { cpus, release, totalmem } from "node:os"
import type { Figure, Goal, Outcome } from "./figure.ts"
import { isMet, median } from "./figure.ts"

const short = (value: number): string =>
  value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2)

const spread = (values: ReadonlyArray<number>): string =>
  values.length === 0
    ? "–"
    : `**${short(median(values))}** (${short(Math.min(...values))}–${short(Math.max(...values))})`

const goalRow = (goal: Goal): string =>
  `| ${goal.work} | ${goal.goal} | ${spread(goal.ratios)} | ${spread(goal.cpuRatios)} | ${isMet(goal) ? "met" : "**missed**"} |`

export const machine = (postgres: string, settings: string): string =>
  `${cpus().length} × ${cpus()[0]?.model.trim() ?? "unknown"}, ${Math.round(totalmem() / 2 ** 30)} GB, Linux ${release()}, Node ${process.versions.node}, PostgreSQL ${postgres}; ${settings}`

export const goalTable = (outcomes: ReadonlyArray<Outcome>): string =>
  [
    "| work | goal | measured (least–most) | by CPU time | |",
    "|---|---|---|---|---|",
    ...outcomes.flatMap(({ goals }) => goals.map(goalRow)),
  ].join("\n")

export const details = (figure: Figure, { standings }: Outcome): string =>
  [
    `### ${figure.title}`,
    "",
    `\`cabinet bench ${figure.name}\`. ${figure.caption}`,
    "",
    "| who | | CPU a unit: server | database |",
    "|---|---|---|---|",
    ...standings.map(({ contestant, value, unit, cpu }) => {
      const micros = (one: number | undefined) => (one === undefined ? "–" : `${short(one)} µs`)
      return `| ${contestant} | ${short(value)} ${unit} | ${micros(cpu?.server)} | ${micros(cpu?.database)} |`
    }),
  ].join("\n")

/** What stands below it in a document is the last run's. */
const RESULTS = "<!-- results -->\n"

/** Writes the results into a file; of a document that has a place for them, only what stands there. */
export const writeResults = (file: string, text: string): void => {
  const before = existsSync(file) ? readFileSync(file, "utf8") : ""
  const at = before.indexOf(RESULTS)
  const kept = at === -1 ? "" : `${before.slice(0, at + RESULTS.length)}\n`
  writeFileSync(file, `${kept}${text.trimEnd()}\n`)
}

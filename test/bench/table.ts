/** The results as Markdown: what `npm run bench` prints, and what docs/performance.md holds of the last run. */
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
    `\`npm run bench -- ${figure.name}\`. ${figure.caption}`,
    "",
    "| who | | CPU a unit: server | database |",
    "|---|---|---|---|",
    ...standings.map(({ contestant, value, unit, cpu }) => {
      const micros = (one: number | undefined) => (one === undefined ? "–" : `${short(one)} µs`)
      return `| ${contestant} | ${short(value)} ${unit} | ${micros(cpu?.server)} | ${micros(cpu?.database)} |`
    }),
  ].join("\n")

/** In a document the results stand between these two lines. */
const BEGIN = "<!-- results -->\n"
const END = "<!-- end of results -->"

/** The text before and after the results; undefined for a document without markers for them. */
const around = (file: string) => {
  if (!existsSync(file)) return { before: "", after: "" }
  const text = readFileSync(file, "utf8")
  const begin = text.indexOf(BEGIN)
  const end = text.indexOf(END, begin)
  if (begin === -1 || end === -1) return undefined
  return { before: `${text.slice(0, begin)}${BEGIN}\n`, after: `\n${text.slice(end)}` }
}

/** Why results cannot be written into a file, as a message; undefined if they can. */
export const placeMissing = (file: string): string | undefined =>
  around(file) === undefined
    ? `${file} has no place for results. They stand between a line ${BEGIN.trimEnd()} and a line ${END}.`
    : undefined

/** Writes the results into a new file, or into a document in place of the last ones. */
export const writeResults = (file: string, results: string): void => {
  const place = around(file)
  if (place === undefined) throw new Error(placeMissing(file))
  writeFileSync(file, `${place.before}${results.trimEnd()}\n${place.after}`)
}

/**
 * `npm run bench -- [--quick|--long] [--json] [--markdown FILE] [--details FILE] [FIGURE…]`: measures side by side and
 * prints the goals and what each side did, and writes them into documents. It needs nothing but the clone; its
 * PostgreSQL and all servers live in a directory that is gone when it ends.
 */
import { parseArgs } from "node:util"
import { SETTINGS } from "./cluster.ts"
import { endContestants } from "./contestant.ts"
import { type Bench, isMet, median, type Outcome, type Scale } from "./figure.ts"
import { FIGURES } from "./figures.ts"
import { pinned } from "./load/load.ts"
import { startRun } from "./run.ts"
import { details, goalTable, machine, placeMissing, writeResults } from "./table.ts"

const { values: flags, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    quick: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    json: { type: "boolean", default: false },
    markdown: { type: "string" },
    details: { type: "string" },
    rounds: { type: "string" },
    seconds: { type: "string" },
  },
})

const names = FIGURES.map(({ name }) => name)
const stranger = positionals.find((name) => !names.includes(name))
const refused = (): string | undefined => {
  if (stranger !== undefined) return `There is no figure ${stranger}. There are ${names.join(", ")}.`
  if (flags.quick && flags.long) return "Either --quick or --long, not both."
  return [flags.markdown, flags.details].map((file) => file && placeMissing(file)).find((missing) => missing)
}
const refusal = refused()
if (refusal !== undefined) {
  process.stderr.write(`${refusal}\n`)
  process.exit(2)
}

const scale: Scale = flags.quick ? "quick" : flags.long ? "long" : "default"
const say = (line: string) => void process.stderr.write(`${line}\n`)
const { cluster, end, brokenOff } = await startRun(say)
const sized: Bench["sized"] = (quick, usual, long = usual) =>
  scale === "quick" ? quick : scale === "long" ? long : usual
const bench: Bench = {
  cluster,
  scale,
  rounds: flags.rounds === undefined ? sized(2, 6) : Number(flags.rounds),
  runIn: sized(0.3, 10),
  warmUp: sized(0.1, 0.5),
  seconds: flags.seconds === undefined ? sized(0.3, 2) : Number(flags.seconds),
  sized,
  say,
}

const chosen = FIGURES.filter(({ name, longOnly = false }) =>
  positionals.length === 0 ? !longOnly || scale === "long" : positionals.includes(name),
)
const outcomes = new Map<string, Outcome>()
let failed = false
try {
  for (const figure of chosen) {
    if (brokenOff() !== undefined) break
    bench.say(`${figure.title} (${figure.name})`)
    const began = Date.now()
    try {
      outcomes.set(figure.name, await figure.measure(bench))
    } catch (error) {
      if (brokenOff() !== undefined) break
      failed = true
      bench.say(`  could not be measured: ${error instanceof Error ? error.stack : String(error)}`)
      await endContestants()
    }
    bench.say(`  took ${Math.round((Date.now() - began) / 1000)} s`)
  }
} finally {
  await end()
}
const code = brokenOff()
if (code !== undefined) process.exit(code)

const about = machine(
  cluster.version,
  `${Object.entries(SETTINGS)
    .map(([name, value]) => `${name}=${value}`)
    .join(
      ", ",
    )}; ${bench.rounds} alternating rounds of ${bench.seconds} s; generator ${pinned ? "pinned to the last core" : "not pinned"}`,
)
if (flags.json) {
  const goals = [...outcomes].flatMap(([figure, { goals: all }]) =>
    all.map((goal) => ({ figure, ...goal, ratio: median(goal.ratios), met: isMet(goal) })),
  )
  const standings = [...outcomes].flatMap(([figure, { standings: all }]) => all.map((one) => ({ figure, ...one })))
  process.stdout.write(`${JSON.stringify({ machine: about, scale, goals, standings })}\n`)
} else {
  const told = chosen.filter(({ name }) => outcomes.has(name))
  const goals = [goalTable([...outcomes.values()]), "", about].join("\n")
  const each = told.map((figure) => details(figure, outcomes.get(figure.name)!)).join("\n\n")
  process.stdout.write(`${goals}\n\n${each}\n`)
  if (flags.markdown !== undefined) writeResults(flags.markdown, goals)
  if (flags.details !== undefined) writeResults(flags.details, each)
}
process.exit(failed ? 1 : 0)

/** Intake of one JSON body a request, against plain, bare and our own server without a database. */
import { type Contestant, ourServer, type OurServer, RATES, yardstick, yardsticks } from "../contestant.ts"
import { type Bench, divided, type Figure, median } from "../figure.ts"
import { orderJson, postRequest } from "../load/request.ts"
import { alternate, type Entrant, faster, standingsOf } from "../rounds.ts"

const CONNECTIONS = 64
const WORK = "intake, one JSON, 64 connections"

/** The same offered rate for both: 30 % less than the slower one can do. */
const OFFERED = 0.7

export const contestants = async ({ cluster }: Bench) => {
  const beside = (name: string) =>
    yardsticks(name, name, async (number) => ({ DATABASE_URL: await cluster.database(`${name}_${number}`) }))
  const [ours, plain, bare, none] = await Promise.all([
    cluster.database("ours").then((url) => ourServer(url)),
    beside("plain"),
    beside("bare"),
    cluster.database("nodb").then((url) => yardstick("no database", "noDatabase", { ...RATES, DATABASE_URL: url })),
  ])
  return { ours, plain, bare, none }
}

const at = (contestant: Contestant, path: string): Entrant => ({
  ...contestant,
  requests: [postRequest(path, "application/json", orderJson())],
})

export const oursAt = (ours: OurServer): Entrant => at(ours, ours.intakePath)

export const intakeJson: Figure = {
  name: "intake-json",
  title: "Intake of one JSON body",
  caption:
    "ours: counts the client and the source against their rates (in leases of a thousandth of the limit), parses keeping every digit, and commits event, original, repeat window, table row and due deliveries before it responds. plain: JSON.parse, then one transaction of six prepared statements: repeat check, event, original, row. bare: JSON.parse and one prepared INSERT. no database: ours with a log that responds at once, which shows the share of HTTP, counting and parsing; it is not a goal.",
  measure: async (bench) => {
    const { ours, plain, bare, none } = await contestants(bench)
    const entrants = [
      oursAt(ours),
      at(plain, "/intake"),
      at(bare, "/intake"),
      at(none, (none.said as { path: string }).path),
    ]
    const rounds = await alternate(bench, entrants, { connections: CONNECTIONS, rate: null })
    const rateOf = (name: string) => median(rounds.get(name)!.map(({ rate }) => rate))
    const offered = Math.floor(OFFERED * Math.min(rateOf("ours"), rateOf("plain")))
    bench.say(`  at ${offered} requests a second offered to both`)
    const paced = await alternate(bench, entrants.slice(0, 2), { connections: CONNECTIONS, rate: offered })
    const p99 = (name: string) => paced.get(name)!.map((one) => one.p99)
    await Promise.all([ours, plain, bare, none].map((one) => one.stop()))
    return {
      goals: [
        faster(rounds, "ours", "plain", { work: WORK, atLeast: 3 }),
        faster(rounds, "ours", "bare", { work: WORK, atLeast: 1.2 }),
        {
          work: `the same, p99 at ${offered} requests/s`,
          goal: "≤ plain",
          atMost: 1,
          ratios: divided(p99("ours"), p99("plain")),
          cpuRatios: [],
        },
      ],
      standings: [
        ...standingsOf(rounds, "requests/s"),
        { contestant: "ours, p99", value: median(p99("ours")), unit: "ms" },
        { contestant: "plain, p99", value: median(p99("plain")), unit: "ms" },
      ],
    }
  },
}

/**
 * A table as a file: `cabinet export` in each format, compared with COPY of the same table and with a client that walks
 * the API's pages.
 */
import { rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { cabinetCommand, type OurServer, ourServer } from "../contestant.ts"
import { type Bench, divided, type Figure, type Goal, median } from "../figure.ts"
import { endedCpu, processCpu } from "../processCpu.ts"
import { orders } from "./rows.ts"

const FORMS = ["csv", "ndjson", "xlsx", "parquet"] as const
const PAGE = 1_000

/** Of one turn: rows a second, and microseconds of CPU for a row. */
interface Turn {
  readonly rate: number
  readonly server: number
  readonly database: number
}

interface Contender {
  readonly name: string
  /** Runs all of it once. */
  readonly work: () => Promise<void>
  /** Milliseconds of CPU that its own processes have used. */
  readonly cpu: () => number
}

/** All pages, one after the other. */
const walk = async ({ port, key }: OurServer, rows: number): Promise<void> => {
  const headers = { authorization: `Bearer ${key}` }
  let seen = 0
  for (let cursor = ""; ;) {
    const query = cursor === "" ? "" : `&cursor=${cursor}`
    const page = await fetch(`http://127.0.0.1:${port}/api/v1/tables/public/orders/rows?limit=${PAGE}${query}`, {
      headers,
    })
    if (!page.ok) throw new Error(`a page answered ${page.status}`)
    const text = await page.text()
    seen += PAGE
    // A pattern is enough to find the cursor, because no row of the table contains such a text.
    const next = /"next_cursor":"([^"]+)"/.exec(text)?.[1]
    if (next === undefined) break
    cursor = encodeURIComponent(next)
  }
  if (seen < rows) throw new Error(`the walk ended after ${seen} of ${rows} rows`)
}

const contendersOf = (bench: Bench, url: string, ours: OurServer, rows: number): ReadonlyArray<Contender> => {
  const file = (form: string) => join(tmpdir(), `dc-bench-${process.pid}.${form}`)
  return [
    {
      name: "COPY",
      work: async () => void (await bench.cluster.run(url, "COPY public.orders TO STDOUT WITH (FORMAT csv)")),
      cpu: () => 0,
    },
    { name: "paging", work: () => walk(ours, rows), cpu: () => processCpu(ours.pid) },
    ...FORMS.map((form): Contender => ({
      name: form,
      work: async () => {
        const made = await cabinetCommand(url, "export", "public.orders", "--to", file(form))
        if ((made as { rows: number }).rows !== rows) throw new Error(`${form} has other rows: ${JSON.stringify(made)}`)
        bench.say(`    ${form}: ${(statSync(file(form)).size / 1_000_000).toFixed(1)} MB`)
        rmSync(file(form))
      },
      cpu: () => endedCpu(process.pid),
    })),
  ]
}

const turnOf = async ({ cluster }: Bench, { work, cpu }: Contender, rows: number): Promise<Turn> => {
  await cluster.settle()
  const before = { server: cpu(), database: cluster.cpu(), at: performance.now() }
  await work()
  const each = (now: number, then: number) => ((now - then) * 1_000) / rows
  return {
    rate: (rows * 1_000) / (performance.now() - before.at),
    server: each(cpu(), before.server),
    database: each(cluster.cpu(), before.database),
  }
}

const goalOf = (turns: ReadonlyMap<string, ReadonlyArray<Turn>>, form: string): Goal => {
  const [ours, walked] = [turns.get(form)!, turns.get("paging")!]
  const cpu = ({ server, database }: Turn) => server + database
  return {
    work: `export, ${form}`,
    goal: "≥ 1 × paging",
    atLeast: 1,
    ratios: divided(
      ours.map(({ rate }) => rate),
      walked.map(({ rate }) => rate),
    ),
    cpuRatios: divided(walked.map(cpu), ours.map(cpu)),
  }
}

export const exports: Figure = {
  name: "exports",
  title: "Exports",
  caption:
    "csv, ndjson, xlsx, parquet: cabinet export of 500,000 rows of ten columns as a process of its own, from its start until the file has its name. paging: GET …/rows with 1,000 rows a page as JSON, one page after the other; without the CPU of its client. COPY: COPY … TO STDOUT in CSV, read by a client that drops it; the database's CPU alone.",
  measure: async (bench) => {
    const rows = bench.sized(20_000, 500_000)
    const url = await bench.cluster.database("ours")
    await bench.cluster.run(url, ...orders(rows))
    const ours = await ourServer(url)
    await cabinetCommand(url, "schema", "expose", "public")
    const contenders = contendersOf(bench, url, ours, rows)
    const turns = new Map(contenders.map(({ name }) => [name, [] as Array<Turn>]))
    // The server that is walked has run for a while, as any server has.
    await walk(ours, rows)
    for (let round = 0; round < bench.rounds; round++) {
      for (let turn = 0; turn < contenders.length; turn++) {
        const contender = contenders[(turn + round) % contenders.length]!
        const done = await turnOf(bench, contender, rows)
        turns.get(contender.name)!.push(done)
        const cpu = `${done.server.toFixed(1)} + ${done.database.toFixed(1)}`
        bench.say(`  ${round + 1} ${contender.name}: ${Math.round(done.rate)} rows/s, CPU ${cpu} us`)
      }
    }
    await ours.stop()
    return {
      // The API has pages in neither of the others.
      goals: ["csv", "ndjson"].map((form) => goalOf(turns, form)),
      standings: [...turns].map(([contestant, all]) => ({
        contestant,
        value: median(all.map(({ rate }) => rate)),
        unit: "rows/s",
        cpu: { server: median(all.map(({ server }) => server)), database: median(all.map(({ database }) => database)) },
      })),
    }
  },
}

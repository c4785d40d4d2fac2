/** Tables and selections out of the ordinary against the usual page: what a cell costs, and a byte of long values. */
import { cabinetCommand, type OurServer, ourServer } from "../contestant.ts"
import { type Bench, divided, type Figure, type Goal } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { alternate, type Entrant, type LoadKind, standingsOf } from "../rounds.ts"

/** Rows of a customer, which is one page. */
const PAGE = 100
const COLUMNS = 10
const WIDE_COLUMNS = 300
const SEARCHED_COLUMNS = 20
const LONG_BYTES = 100_000
const LONG_PAGE = 10
/** How many times the usual cost is no cliff. */
const AT_MOST = 2

const numbers = (count: number) => Array.from({ length: count }, (_, n) => n + 1)

/** Columns of text in a table with an id and a customer, and the table filled. */
const table = (name: string, columns: number, rows: number): ReadonlyArray<string> => {
  const texts = numbers(columns - 2)
  return [
    `CREATE TABLE public.${name} (id bigint PRIMARY KEY, customer bigint NOT NULL, ${texts.map((n) => `c${n} text`).join(", ")})`,
    `INSERT INTO public.${name} SELECT n, n / ${PAGE}, ${texts.map((n) => `left(md5((n * ${n})::text), 12)`).join(", ")}
     FROM generate_series(0, ${rows - 1}) n`,
    `CREATE INDEX ON public.${name} (customer, id)`,
    `VACUUM ANALYZE public.${name}`,
  ]
}

const MANY = numbers(200).map((n) => `many${n}`)

const prepared = async (bench: Bench, rows: number): Promise<OurServer> => {
  const url = await bench.cluster.database("ours")
  await bench.cluster.run(
    url,
    ...table("usual", COLUMNS, rows),
    ...table("wide", WIDE_COLUMNS, rows / 10),
    ...table("searched", SEARCHED_COLUMNS, rows),
    ...MANY.flatMap((name) => table(name, COLUMNS, PAGE)),
    "CREATE TABLE public.long (id bigint PRIMARY KEY, note text NOT NULL)",
    `INSERT INTO public.long SELECT n, repeat(md5(n::text), ${LONG_BYTES / 32}) FROM generate_series(1, 200) n`,
    "VACUUM ANALYZE public.long",
    "CREATE VIEW public.first_view AS SELECT *, customer % 7 AS day FROM public.usual",
    "CREATE VIEW public.view_of_view AS SELECT * FROM public.first_view WHERE day < 7",
  )
  const ours = await ourServer(url, ["--statement-timeout", "60s"])
  await cabinetCommand(url, "schema", "expose", "public")
  return ours
}

const customers = numbers(50)
const oneCustomer = (n: number) => `fc=customer&fo=eq&fv=${n}&sort=id&limit=${PAGE}`
const eitherOfTwo = (n: number) =>
  `fc=customer&fo=eq&fv=${n}&fc=customer&fo=eq&fv=${n + 60}&fj=or&sort=c1&dir=desc&sort=c2&limit=${PAGE}`

/** The usual work, and what is compared with it by one unit of work each. */
interface Comparison {
  readonly unit: string
  readonly usual: Entrant
  readonly others: ReadonlyArray<Entrant>
  readonly kind: LoadKind
}

const goalsOf = ({ unit, usual, others }: Comparison, rounds: Awaited<ReturnType<typeof alternate>>) => {
  const rates = (name: string) => rounds.get(name)!.map(({ rate }) => rate)
  const cpu = (name: string) => rounds.get(name)!.map((one) => one.cpu.server + one.cpu.database)
  return others.map(({ name }): Goal => ({
    work: `${name}, time of a ${unit}`,
    goal: `≤ ${AT_MOST} × ${usual.name}`,
    atMost: AT_MOST,
    ratios: divided(rates(usual.name), rates(name)),
    cpuRatios: divided(cpu(name), cpu(usual.name)),
  }))
}

/** What is read from the server, with the size of what a request reads. */
const comparisons = async (ours: OurServer, rows: number): Promise<ReadonlyArray<Comparison>> => {
  const pageOf = (name: string, query: string) => getRequest(`/api/v1/tables/public/${name}/rows?${query}`, ours.key)
  const entrant = (name: string, units: number, requests: ReadonlyArray<string>): Entrant => ({
    ...ours,
    name,
    units,
    requests,
  })
  const pages = (name: string, of: string, columns: number, query = oneCustomer) =>
    entrant(
      name,
      PAGE * columns,
      customers.map((n) => pageOf(of, query(n))),
    )
  const bytesOf = async (path: string) => {
    const answer = await fetch(`http://127.0.0.1:${ours.port}/api/v1/tables/public/${path}`, {
      headers: { authorization: `Bearer ${ours.key}` },
    })
    if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
    return (await answer.arrayBuffer()).byteLength
  }
  const needle = (of: string, columns: number) =>
    entrant(`q over ${columns} columns`, rows * columns, [pageOf(of, "q=no+value+has+this")])
  const long = `limit=${LONG_PAGE}`
  const [usualBytes, longBytes] = await Promise.all([
    bytesOf(`usual/rows?${oneCustomer(1)}`),
    bytesOf(`long/rows?${long}`),
  ])
  const usual = pages(`${PAGE} × ${COLUMNS}`, "usual", COLUMNS)
  return [
    {
      unit: "cell",
      usual,
      others: [
        pages(`${PAGE} × ${WIDE_COLUMNS}`, "wide", WIDE_COLUMNS),
        pages("a view over a view", "view_of_view", COLUMNS + 1),
        pages("or, and two sorts", "usual", COLUMNS, eitherOfTwo),
        entrant(
          `${MANY.length} tables in turn`,
          PAGE * COLUMNS,
          MANY.map((name) => pageOf(name, oneCustomer(0))),
        ),
      ],
      kind: { connections: 8, rate: null },
    },
    {
      unit: "byte",
      usual: { ...usual, units: usualBytes },
      others: [entrant(`${LONG_PAGE} rows of 100 KB`, longBytes, [pageOf("long", long)])],
      kind: { connections: 8, rate: null },
    },
    {
      unit: "cell",
      usual: needle("usual", COLUMNS),
      others: [needle("searched", SEARCHED_COLUMNS)],
      kind: { connections: 1, rate: null },
    },
  ]
}

export const rowsWide: Figure = {
  name: "rows-wide",
  title: "Wide tables, long values, many tables",
  caption: `All are ours: pages of one customer by an index, ${PAGE} rows of ${COLUMNS} short columns as usual; of ${WIDE_COLUMNS} columns; through a view over a view; two customers joined by or and sorted by two columns without an index; of ${MANY.length} tables in turn. Rows of 100 KB are compared by the byte of their response, q (no row matches) by the cell that it searches.`,
  measure: async (bench) => {
    const rows = bench.sized(20_000, 100_000)
    const ours = await prepared(bench, rows)
    const outcome = { goals: [] as Array<Goal>, standings: [] as Array<ReturnType<typeof standingsOf>[number]> }
    for (const comparison of await comparisons(ours, rows)) {
      const { unit, usual, others, kind } = comparison
      const rounds = await alternate(bench, [usual, ...others], kind)
      outcome.goals.push(...goalsOf(comparison, rounds))
      outcome.standings.push(...standingsOf(rounds, `${unit}s/s`))
    }
    await ours.stop()
    return outcome
  },
}

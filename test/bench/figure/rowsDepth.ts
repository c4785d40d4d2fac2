/** A page at depth a million against the first page of the same table, in time and in rows read. */
import { cabinetCommand, ourServer } from "../contestant.ts"
import { divided, type Figure } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { pageAt } from "../pageAt.ts"
import { alternate, standingsOf } from "../rounds.ts"

const PARAMS = [
  ["sort", "at"],
  ["dir", "desc"],
] as const

export const rowsDepth: Figure = {
  name: "rows-depth",
  title: "A page at depth",
  caption:
    "Both are ours: the first hundred rows of a table by an indexed sort that is not unique, and the hundred after a position deep in it, by a cursor constructed directly.",
  measure: async (bench) => {
    const { cluster } = bench
    const amount = bench.sized(100_000, 10_000_000)
    const depth = bench.sized(50_000, 1_000_000)
    const url = await cluster.database("ours")
    await cluster.run(
      url,
      "CREATE TABLE public.readings (id bigint PRIMARY KEY, at timestamptz NOT NULL, sensor integer NOT NULL, value numeric NOT NULL)",
      `INSERT INTO public.readings SELECT n, timestamptz '2026-01-01 00:00Z' + (n / 3) * interval '1 second', n % 100, (n % 10000) / 100.0
       FROM generate_series(1, ${amount}) n`,
      "CREATE INDEX ON public.readings (at, id)",
      "VACUUM ANALYZE public.readings",
    )
    const ours = await ourServer(url)
    await cabinetCommand(url, "schema", "expose", "public")
    const [place] = await cluster.run(
      url,
      `SELECT at::text AS at, id::text AS id FROM public.readings ORDER BY at DESC, id DESC LIMIT 1 OFFSET ${depth}`,
    )
    const table = ["public", "readings"] as const
    const first = await pageAt(url, table, PARAMS, null)
    const deep = await pageAt(url, table, PARAMS, [String(place!["at"]), String(place!["id"])])
    const entrant = (name: string, query: string) => ({
      ...ours,
      name,
      requests: [getRequest(`/api/v1/tables/public/readings/rows?${query}`, ours.key)],
    })
    const rounds = await alternate(bench, [entrant("page 1", first.query), entrant("deep page", deep.query)], {
      connections: 8,
      rate: null,
    })
    await ours.stop()
    const rates = (name: string) => rounds.get(name)!.map(({ rate }) => rate)
    const cpu = (name: string) => rounds.get(name)!.map((one) => one.cpu.server + one.cpu.database)
    const where = `at depth ${depth.toLocaleString("en")} of ${amount.toLocaleString("en")} rows, indexed sort`
    return {
      goals: [
        {
          work: `page ${where}`,
          goal: "≤ 1.2 × page 1 in time",
          atMost: 1.2,
          ratios: divided(rates("page 1"), rates("deep page")),
          cpuRatios: divided(cpu("deep page"), cpu("page 1")),
        },
        {
          work: "the same, rows read",
          goal: "equal to page 1",
          atMost: 1,
          ratios: [deep.rowsRead / first.rowsRead],
          cpuRatios: [],
        },
      ],
      standings: [
        ...standingsOf(rounds, "pages/s"),
        { contestant: "page 1", value: first.rowsRead, unit: "rows read" },
        { contestant: "deep page", value: deep.rowsRead, unit: "rows read" },
      ],
    }
  },
}

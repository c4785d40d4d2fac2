/** `q` with a search index compared with `q` without one. */
import { cabinetCommand, ourServer } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"

/** Needles that occur in one row each. */
const NEEDLES = 20

const people = (table: string, rows: number): ReadonlyArray<string> => [
  `CREATE TABLE public.${table} (id bigint PRIMARY KEY, name text NOT NULL, email text NOT NULL, city text, since date, note text)`,
  `INSERT INTO public.${table}
   SELECT n, initcap(left(md5(n::text), 8)) || ' ' || initcap(left(md5((n + 1)::text), 10)), left(md5((n + 2)::text), 9) || '@example.com',
     'City ' || n % 100, date '2020-01-01' + n % 2000, 'Please ring twice, ' || left(md5((n + 3)::text), 12)
   FROM generate_series(1, ${rows}) n`,
  `VACUUM ANALYZE public.${table}`,
]

export const search: Figure = {
  name: "search",
  title: "Search in all columns",
  caption:
    "Both are ours, on two copies of one table: `q` with a text that occurs in a single row, one request at a time. without: every row is read. with: after cabinet table search-index.",
  measure: async (bench) => {
    const { cluster } = bench
    const rows = bench.sized(20_000, 1_000_000)
    const url = await cluster.database("ours")
    await cluster.run(url, ...people("people", rows), ...people("people_indexed", rows))
    const ours = await ourServer(url, ["--statement-timeout", "60s"])
    await cabinetCommand(url, "schema", "expose", "public")
    await cabinetCommand(url, "search-index", "public.people_indexed")
    const found = await cluster.run(
      url,
      `SELECT name FROM public.people WHERE id % ${Math.floor(rows / NEEDLES)} = 1 LIMIT ${NEEDLES}`,
    )
    const entrant = (name: string, table: string) => ({
      ...ours,
      name,
      requests: found.map((one) =>
        getRequest(`/api/v1/tables/public/${table}/rows?q=${encodeURIComponent(String(one["name"]))}`, ours.key),
      ),
    })
    // Long enough that even the slow one responds several times in a round.
    const patient = { ...bench, runIn: bench.sized(0.5, 3), seconds: Math.max(bench.seconds, bench.sized(0.5, 6)) }
    const rounds = await alternate(patient, [entrant("without", "people"), entrant("with", "people_indexed")], {
      connections: 1,
      rate: null,
    })
    await ours.stop()
    const work = `q over ${rows.toLocaleString("en")} rows with cabinet table search-index`
    return {
      goals: [faster(rounds, "with", "without", { work, atLeast: 20 })],
      standings: standingsOf(rounds, "pages/s"),
    }
  },
}

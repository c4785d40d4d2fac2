/** A page of rows, filtered and sorted by an index, against plain and pass-through. All three read tables of one make. */
import { cabinetCommand, ourServer, postgrest, yardstick } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"

const CITIES = 50
const WORK = "rows, 100 × 10 columns, filtered and sorted by an index"

/** The table that pages are read from. */
export const orders = (rows: number): ReadonlyArray<string> => [
  `CREATE TABLE public.orders (
     id bigint PRIMARY KEY, city text NOT NULL, placed_at timestamptz NOT NULL, customer text, email text, total numeric,
     currency text, paid boolean, items integer, note text)`,
  `INSERT INTO public.orders
   SELECT n, 'City ' || n % ${CITIES}, timestamptz '2026-01-01 00:00Z' + n * interval '13.7 seconds', 'Ada Lovelace ' || n,
     'ada' || n || '@example.com', (n % 100000) / 100.0, 'EUR', n % 3 = 0, n % 7, 'Please ring twice, the bell is broken'
   FROM generate_series(1, ${rows}) n`,
  "CREATE INDEX ON public.orders (city, placed_at, id)",
  "VACUUM ANALYZE public.orders",
]

const cities = Array.from({ length: CITIES }, (_, n) => encodeURIComponent(`City ${n}`))

/** Our requests for pages of that table, of so many rows each. */
export const pageRequests = (key: string, limit = 100): ReadonlyArray<string> =>
  cities.map((city) =>
    getRequest(
      `/api/v1/tables/public/orders/rows?fc=city&fo=eq&sort=placed_at&dir=desc&limit=${limit}&fv=${city}`,
      key,
    ),
  )

export const rows: Figure = {
  name: "rows",
  title: "A page of rows",
  caption:
    "ours: looks the key up and counts it against its minute, looks whether the table still is as it was, reads on the reader role's connection in a read-only transaction, and writes their JSON from what PostgreSQL sends. plain: one prepared SELECT, rows as the driver reads them, JSON.stringify; it asks for no key. pass-through: the same key lookup and rate accounting as ours, then one prepared statement that answers JSON. PostgREST, where POSTGREST_BIN names it: eight connections, no key, no count of requests.",
  measure: async (bench) => {
    const { cluster } = bench
    const amount = bench.sized(20_000, 200_000)
    const database = async (name: string) => {
      const url = await cluster.database(name)
      await cluster.run(url, ...orders(amount))
      return url
    }
    const exposed = async () => {
      const url = await database("ours")
      const server = await ourServer(url)
      await cabinetCommand(url, "expose", "public")
      return server
    }
    const [ours, plain, passed] = await Promise.all([
      exposed(),
      database("plain").then((url) => yardstick("plain", "plainRows", { DATABASE_URL: url })),
      database("passed").then((url) => yardstick("pass-through", "passThrough", { DATABASE_URL: url })),
    ])
    const binary = process.env["POSTGREST_BIN"]
    const peers = binary === undefined ? [] : [await postgrest(binary, await database("postgrest"))]
    const simple = cities.map((city) => getRequest(`/rows?city=${city}`, "bench"))
    const rounds = await alternate(
      bench,
      [
        { ...ours, requests: pageRequests(ours.key) },
        { ...plain, requests: simple },
        { ...passed, requests: simple },
        ...peers.map((peer) => ({
          ...peer,
          requests: cities.map((city) =>
            getRequest(`/orders?city=eq.${city}&order=placed_at.desc,id.desc&limit=100`, null),
          ),
        })),
      ],
      { connections: 32, rate: null },
    )
    await Promise.all([ours, plain, passed, ...peers].map((one) => one.stop()))
    return {
      goals: [
        faster(rounds, "ours", "plain", { work: WORK, atLeast: 1.8 }),
        faster(rounds, "ours", "pass-through", { work: WORK, atLeast: 0.95 }),
      ],
      standings: standingsOf(rounds, "pages/s"),
    }
  },
}

/** Pages of rows, long and short, and one row by its key, against yardsticks that read identical tables. */
import { cabinetCommand, ourServer, postgrest, yardsticks } from "../contestant.ts"
import { type Bench, divided, type Figure, type Goal, type Standing } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { alternate, type Entrant, faster, type Rounds, standingsOf } from "../rounds.ts"
import { KEY_TABLES } from "../yardstick/keyAndRate.ts"

const CITIES = 50

/** What a client wants, with the request to each contestant. */
interface Work {
  readonly work: string
  /** How many times as fast as plain with a key we have to be, by the number of clients. */
  readonly atLeast: Readonly<Record<number, number>>
  readonly ours: (key: string) => ReadonlyArray<string>
  readonly simple: ReadonlyArray<string>
  readonly postgrest: ReadonlyArray<string>
}

/** Many clients and few. */
const CONNECTIONS = [32, 8]
/** How many times the yardstick's median a request of a single client may take. */
const ALONE_AT_MOST = 1.3
const PLAIN = "plain with a key"

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

/** Our requests for pages of that table with this many rows. */
export const pageRequests = (key: string, limit = 100): ReadonlyArray<string> =>
  cities.map((city) =>
    getRequest(
      `/api/v1/tables/public/orders/rows?fc=city&fo=eq&sort=placed_at&dir=desc&limit=${limit}&fv=${city}`,
      key,
    ),
  )

/** Keys in a table of any size. */
const KEYS = Array.from({ length: 50 }, (_, n) => 1 + n * 389)

const page = (limit: number, atLeast: Work["atLeast"]): Work => ({
  work: `rows, ${limit} × 10 by an index`,
  atLeast,
  ours: (key) => pageRequests(key, limit),
  simple: cities.map((city) => getRequest(`/rows?city=${city}&limit=${limit}`, "bench")),
  postgrest: cities.map((city) =>
    getRequest(`/orders?city=eq.${city}&order=placed_at.desc,id.desc&limit=${limit}`, null),
  ),
})

const oneRow: Work = {
  work: "one row of 10 columns by its key",
  atLeast: { 32: 1, 8: 0.8 },
  ours: (key) => KEYS.map((id) => getRequest(`/api/v1/tables/public/orders/rows?fc=id&fo=eq&fv=${id}`, key)),
  simple: KEYS.map((id) => getRequest(`/row?id=${id}`, "bench")),
  postgrest: KEYS.map((id) => getRequest(`/orders?id=eq.${id}`, null)),
}

const CAPTION =
  "ours: looks up the key and counts the request, checks that the table is unchanged, reads as the reader role in a read-only transaction, and writes the JSON from what PostgreSQL sends. plain with a key: one statement that looks up the key by its hash and counts the request, then one prepared SELECT, rows as the driver returns them, JSON.stringify. binary SELECT: the same SELECT with binary results that nobody reads, and a response of one number; no key. PostgREST, where POSTGREST_BIN names it: PGRST_DB_POOL=8, PGRST_LOG_LEVEL=error, otherwise its defaults; no key and no request count, which favours it."

const contestants = async ({ cluster }: Bench, amount: number) => {
  const database = async (name: string) => {
    const url = await cluster.database(name)
    await cluster.run(url, ...orders(amount))
    return url
  }
  const exposed = async () => {
    const url = await database("ours")
    const server = await ourServer(url)
    await cabinetCommand(url, "schema", "expose", "public")
    return server
  }
  const reading = async (name: string, file: string) => {
    const url = await database(file.toLowerCase())
    await cluster.run(url, ...KEY_TABLES)
    return yardsticks(name, file, async () => ({ DATABASE_URL: url, WITH_KEY: "yes" }))
  }
  const binary = process.env["POSTGREST_BIN"]
  const [ours, plain, select, ...peers] = await Promise.all([
    exposed(),
    reading(PLAIN, "plainRows"),
    reading("binary SELECT", "binarySelect"),
    ...(binary === undefined ? [] : [database("postgrest").then((url) => postgrest(binary, url))]),
  ])
  return { reading, ours, plain, select, peers }
}

const mediansOf = (rounds: Rounds, name: string): ReadonlyArray<number> => rounds.get(name)!.map(({ median }) => median)

/** Measures each work with many clients and with few; `more` are contestants that only do a page of a hundred rows. */
const measured = async (
  bench: Bench,
  all: Awaited<ReturnType<typeof contestants>>,
  works: ReadonlyArray<Work>,
  more: ReadonlyArray<Entrant>,
) => {
  const goals: Array<Goal> = []
  const standings: Array<Standing> = []
  for (const { work, atLeast, ours, simple, postgrest: asked } of works) {
    const ourEntrant = { ...all.ours, requests: ours(all.ours.key) }
    const plain = { ...all.plain, requests: simple }
    for (const connections of CONNECTIONS) {
      const named = `${work}, ${connections} clients`
      bench.say(`  ${named}`)
      const rounds = await alternate(
        bench,
        [
          ourEntrant,
          plain,
          { ...all.select, requests: simple },
          ...more,
          ...all.peers.map((peer) => ({ ...peer, requests: asked })),
        ],
        { connections, rate: null },
      )
      goals.push(faster(rounds, "ours", PLAIN, { work: named, atLeast: atLeast[connections]! }))
      for (const { name } of more) goals.push(faster(rounds, "ours", name, { work: named, atLeast: 0.95 }))
      standings.push(
        ...standingsOf(rounds, "pages/s").map((one) => ({ ...one, contestant: `${one.contestant}; ${named}` })),
      )
    }
    bench.say(`  ${work}, 1 client`)
    const alone = await alternate(bench, [ourEntrant, plain], { connections: 1, rate: null })
    goals.push({
      work: `${work}, 1 client, median time`,
      goal: `≤ ${ALONE_AT_MOST} × ${PLAIN}`,
      atMost: ALONE_AT_MOST,
      ratios: divided(mediansOf(alone, "ours"), mediansOf(alone, PLAIN)),
      cpuRatios: [],
    })
  }
  return { goals, standings }
}

export const rows: Figure = {
  name: "rows",
  title: "A page of rows",
  caption: `${CAPTION} pass-through: the same key lookup and request count as ours, then one prepared statement that returns JSON.`,
  measure: async (bench) => {
    const all = await contestants(bench, bench.sized(20_000, 200_000))
    const passed = await all.reading("pass-through", "passThrough")
    const hundred = page(100, { 32: 1.5, 8: 1.2 })
    const outcome = await measured(bench, all, [hundred], [{ ...passed, requests: hundred.simple }])
    await Promise.all([all.ours, all.plain, all.select, passed, ...all.peers].map((one) => one.stop()))
    return outcome
  },
}

export const rowsShort: Figure = {
  name: "rows-short",
  title: "Short pages, and one row by its key",
  caption: CAPTION,
  measure: async (bench) => {
    const all = await contestants(bench, bench.sized(20_000, 200_000))
    const outcome = await measured(bench, all, [page(20, { 32: 1.2, 8: 1 }), oneRow], [])
    await Promise.all([all.ours, all.plain, all.select, ...all.peers].map((one) => one.stop()))
    return outcome
  },
}

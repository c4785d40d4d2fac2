/** The cost of the pictures under the headings of a table, which load after its rows. */
import { Pool } from "undici"
import { cabinetCommand, ourServer } from "../contestant.ts"
import { type Figure, median } from "../figure.ts"

const sales = (rows: number): ReadonlyArray<string> => [
  `CREATE TABLE public.sales AS SELECT n AS id, 'Customer ' || n % 310 AS customer, 'City ' || n % 12 AS city,
     (ARRAY['paid', 'new', 'shipped', 'refunded', 'open'])[1 + n % 5] AS status, (n * 7919 % 90000) / 100.0 AS total,
     n % 9 AS quantity, n % 3 = 0 AS paid, timestamptz '2026-05-30 00:00Z' + n * interval '77 seconds' AS ordered_at,
     date '2026-01-01' + n % 300 AS due, CASE WHEN n % 3 = 0 THEN 'ring twice' END AS note, 'c' || n || '@example.com' AS email,
     (ARRAY['DE', 'FR', 'ES'])[1 + n % 3] AS country, n % 100 / 4.0 AS discount, n::float8 / 3 AS weight, 'SKU-' || n % 5000 AS sku
   FROM generate_series(1, ${rows}) n`,
  "ALTER TABLE public.sales ADD PRIMARY KEY (id)",
  "VACUUM ANALYZE public.sales",
]

const PATH = "/console/tables/public/sales/pictures"
const KINDS = [
  { name: "without a filter", path: PATH },
  { name: "with a filter", path: `${PATH}?fc=status&fo=eq&fv=paid` },
] as const

export const pictures: Figure = {
  name: "pictures",
  title: "Pictures under the headings of a table",
  caption: "Ours: one client asks for the pictures of 15 columns, from statistics and, with a filter, from rows.",
  measure: async (bench) => {
    const rows = bench.sized(20_000, 200_000)
    const url = await bench.cluster.database("ours")
    await bench.cluster.run(url, ...sales(rows))
    const ours = await ourServer(url)
    await cabinetCommand(url, "schema", "expose", "public")
    const pool = new Pool(`http://127.0.0.1:${ours.port}`, { connections: 1 })
    const times: Record<string, Array<number>> = {}
    for (let round = -1; round < bench.rounds; round++) {
      const { token } = (await cabinetCommand(url, "token", "add", `Round ${round + 1}`, "--role", "viewer")) as {
        token: string
      }
      for (const { name, path } of KINDS) {
        const taken: Array<number> = []
        for (let time = 0; time < bench.sized(5, 30); time++) {
          const began = performance.now()
          const headers = { authorization: `Bearer ${token}`, "x-fragment": "1" }
          const { statusCode, body } = await pool.request({ path, method: "GET", headers })
          const text = await body.text()
          if (statusCode !== 200 || !text.includes("bars")) throw new Error(`${path} answered ${statusCode}: ${text}`)
          taken.push(performance.now() - began)
        }
        // The first round only warms it up.
        if (round >= 0) (times[name] ??= []).push(median(taken))
      }
    }
    await pool.close()
    await ours.stop()
    return {
      goals: [
        {
          work: `pictures of ${rows.toLocaleString("en")} rows × 15 columns, without a filter`,
          goal: "≤ 100 ms",
          atMost: 100,
          ratios: times["without a filter"]!,
          cpuRatios: [],
        },
      ],
      standings: KINDS.map(({ name }) => ({ contestant: name, value: median(times[name]!), unit: "ms" })),
    }
  },
}

/** Pages of the list of deliveries at any depth, and its counts, over a log of many attempts. */
import { Pool } from "undici"
import { cabinetCommand, ourServer } from "../contestant.ts"
import { type Figure, median } from "../figure.ts"

/** One in this many attempts failed, and its delivery waits in the queue. */
const FAILED = 10
const PAGE = "/manage/v1/deliveries?limit=100"

/** Attempts of yesterday, in the places where the list finds them. */
const seed = (count: number): ReadonlyArray<string> => {
  const at = (n: string) =>
    `date_trunc('day', now(), 'UTC') - interval '24 hours' + ${n} * interval '23 hours' / ${count}`
  return [
    "INSERT INTO cabinet.address (id, url, secret, every_source) SELECT n, 'https://example.com/' || n, 's', false FROM generate_series(101, 110) n",
    `INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, status, event_id, delivery_created_at)
     SELECT n, 1, 101 + n % 10, ${at("n")}, true, n % 200, 200, n, ${at("n")} FROM generate_series(1, ${count}) n WHERE n % ${FAILED} <> 0`,
    `INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, status)
     SELECT n, 1, 101 + n % 7, ${at("n")}, false, n % 200, 503 FROM generate_series(${FAILED}, ${count}, ${FAILED}) n`,
    `INSERT INTO cabinet.delivery (id, address_id, event_id, attempts, failures, created_at, due_at, last_at, outcome)
     SELECT n, 101 + n % 7, n, 1, 1, ${at("n")}, now() + interval '1 day', ${at("n")}, 'error' FROM generate_series(${FAILED}, ${count}, ${FAILED}) n`,
    `SELECT setval('cabinet.delivery_id', ${count})`,
    "VACUUM ANALYZE cabinet.attempt",
    "VACUUM ANALYZE cabinet.delivery",
  ]
}

export const deliveriesList: Figure = {
  name: "deliveries-list",
  title: "The list of deliveries at depth",
  caption:
    "Both are ours: the first hundred deliveries of the management API, and the hundred in the middle of the log, by a cursor constructed directly; a tenth failed and waits. Then the console's screen of the same list, with its chart and its counts by type and source.",
  measure: async (bench) => {
    const { cluster } = bench
    const amount = bench.sized(20_000, 1_000_000, 10_000_000)
    const url = await cluster.database("ours")
    const ours = await ourServer(url)
    await cluster.run(url, ...seed(amount))
    const [place] = await cluster.run(
      url,
      `SELECT cabinet.rfc3339(at) AS at, delivery_id::text AS id FROM cabinet.attempt WHERE delivery_id = ${amount / 2 + 1}`,
    )
    const deep = `${PAGE}&before=${encodeURIComponent(`${String(place!["at"])}_${String(place!["id"])}_${String(place!["id"])}`)}`
    const pool = new Pool(`http://127.0.0.1:${ours.port}`, { connections: 1 })
    const walls = { first: [] as Array<number>, deep: [] as Array<number>, screen: [] as Array<number> }
    const paths = { first: PAGE, deep, screen: "/console/deliveries" } as const
    for (let round = -1; round < bench.rounds; round++) {
      const { token } = (await cabinetCommand(url, "token", "add", `Round ${round + 1}`, "--role", "viewer")) as {
        token: string
      }
      const taken = { first: [] as Array<number>, deep: [] as Array<number>, screen: [] as Array<number> }
      for (let time = 0; time < bench.sized(10, 60); time++) {
        for (const kind of ["first", "deep", "screen"] as const) {
          const began = performance.now()
          const headers = { authorization: `Bearer ${token}` }
          const { statusCode, body } = await pool.request({ path: paths[kind], method: "GET", headers })
          const text = await body.text()
          if (statusCode !== 200) throw new Error(`${paths[kind]} answered ${statusCode}: ${text.slice(0, 200)}`)
          taken[kind].push(performance.now() - began)
        }
      }
      // The first round only warms it up.
      if (round === -1) continue
      for (const kind of ["first", "deep", "screen"] as const) walls[kind].push(median(taken[kind]))
      bench.say(
        `  ${round + 1} ${Object.entries(walls)
          .map(([kind, all]) => `${kind} ${all.at(-1)!.toFixed(2)} ms`)
          .join(", ")}`,
      )
    }
    await pool.close()
    await ours.stop()
    return {
      goals: [
        {
          work: `100 deliveries in the middle of ${amount.toLocaleString("en")} attempts`,
          goal: "≤ 1.2 × page 1",
          atMost: 1.2,
          ratios: walls.deep.map((value, at) => value / walls.first[at]!),
          cpuRatios: [],
        },
      ],
      standings: [
        { contestant: "page 1", value: median(walls.first), unit: "ms" },
        { contestant: "deep page", value: median(walls.deep), unit: "ms" },
        { contestant: "the console's screen", value: median(walls.screen), unit: "ms" },
      ],
    }
  },
}

/**
 * How readers affect one another: pages of a table next to a slow view, and the server's memory under many readers of
 * long pages. Neither has a yardstick; both are compared with the previous version.
 */
import { cabinetCommand, ourServer } from "../contestant.ts"
import { type Bench, type Figure, median } from "../figure.ts"
import { load } from "../load/load.ts"
import { getRequest } from "../load/request.ts"
import { residentBytes } from "../processCpu.ts"
import { orders, pageRequests } from "./rows.ts"

const MB = 1_048_576

const READERS = 16

/** More than a view may have sessions. */
const READERS_OF_VIEW = 8

const ROW_BYTES = 2_000

const prepared = async (bench: Bench) => {
  const url = await bench.cluster.database("ours")
  await bench.cluster.run(
    url,
    ...orders(bench.sized(20_000, 200_000)),
    "CREATE VIEW public.slow AS SELECT 1 AS one, pg_sleep(0.5)::text AS slept",
    "CREATE TABLE public.long (id bigint PRIMARY KEY, note text NOT NULL)",
    `INSERT INTO public.long SELECT n, repeat('long', ${ROW_BYTES / 4}) FROM generate_series(1, 1000) n`,
    "VACUUM ANALYZE public.long",
  )
  const ours = await ourServer(url)
  await cabinetCommand(url, "schema", "expose", "public")
  return ours
}

export const rowsBeside: Figure = {
  name: "rows-beside",
  title: "Readers beside one another",
  caption: `All are ours. ${READERS} clients read pages of 100 rows, by themselves and while ${READERS_OF_VIEW} others read a view that takes half a second. Then 200 clients read pages of a thousand rows of ${ROW_BYTES} bytes, and the server's resident memory is looked at.`,
  measure: async (bench) => {
    const ours = await prepared(bench)
    const { port, key, pid } = ours
    const { cpu } = bench.cluster
    const times = { rate: null, warmUp: bench.warmUp, seconds: bench.seconds }
    const rows = () => load({ ...times, port, connections: READERS, requests: pageRequests(key) }, ours, cpu)
    const slow = [getRequest("/api/v1/tables/public/slow/rows", key)]
    // Begins before the pages and ends after them.
    const view = () =>
      load(
        { ...times, warmUp: 0, seconds: bench.seconds + 2, port, connections: READERS_OF_VIEW, requests: slow },
        ours,
        cpu,
      )
    const [alone, beside]: [Array<number>, Array<number>] = [[], []]
    await load(
      { ...times, warmUp: 0, seconds: bench.runIn, port, connections: READERS, requests: pageRequests(key) },
      ours,
      cpu,
    )
    for (let round = 0; round < bench.rounds; round++) {
      alone.push((await rows()).p99)
      const [besideView] = await Promise.all([rows(), view()])
      beside.push(besideView.p99)
      bench.say(
        `  ${round + 1} p99: ${alone.at(-1)!.toFixed(1)} ms alone, ${beside.at(-1)!.toFixed(1)} ms beside the view`,
      )
    }
    const idle = residentBytes(pid)
    const seen: Array<number> = []
    const timer = setInterval(() => seen.push(residentBytes(pid)), 50)
    const long = [getRequest("/api/v1/tables/public/long/rows?limit=1000", key)]
    const connections = bench.sized(20, 200)
    await load({ ...times, warmUp: 0, seconds: bench.sized(1, 20), port, connections, requests: long }, ours, cpu)
    clearInterval(timer)
    await ours.stop()
    return {
      goals: [],
      standings: [
        { contestant: "a table alone, p99", value: median(alone), unit: "ms" },
        { contestant: "beside a slow view, p99", value: median(beside), unit: "ms" },
        { contestant: "memory before the long pages", value: idle / MB, unit: "MB" },
        { contestant: `most under ${connections} readers of them`, value: Math.max(...seen) / MB, unit: "MB" },
      ],
    }
  },
}

/** The condition `contains`, which no index answers, against ILIKE over the same table. */
import { cabinetCommand, ourServer, yardsticks } from "../contestant.ts"
import type { Figure } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { alternate, faster, standingsOf } from "../rounds.ts"
import { orders } from "./rows.ts"

/** Occurs in no row, so that all of them are read. */
const NEEDLE = "nowhere"

export const contains: Figure = {
  name: "contains",
  title: "Rows whose text contains another",
  caption:
    "Two clients look in one column for a text that stands in no row. ours: `fo=contains`, whatever the case of the letters. plain: one prepared SELECT with ILIKE; no key.",
  measure: async (bench) => {
    const { cluster } = bench
    const rows = bench.sized(10_000, 100_000)
    const [url, plainUrl] = [await cluster.database("ours"), await cluster.database("plain")]
    for (const each of [url, plainUrl]) await cluster.run(each, ...orders(rows))
    const [ours, plain] = await Promise.all([
      ourServer(url),
      yardsticks("plain", "plainRows", async () => ({ DATABASE_URL: plainUrl })),
    ])
    await cabinetCommand(url, "schema", "expose", "public")
    const path = `/api/v1/tables/public/orders/rows?fc=note&fo=contains&fv=${NEEDLE}`
    const rounds = await alternate(
      bench,
      [
        { ...ours, requests: [getRequest(path, ours.key)] },
        { ...plain, requests: [getRequest(`/contains?text=${NEEDLE}`, "bench")] },
      ],
      { connections: 2, rate: null },
    )
    await Promise.all([ours.stop(), plain.stop()])
    const work = `contains over ${rows.toLocaleString("en")} rows`
    return {
      goals: [faster(rounds, "ours", "plain", { work, atLeast: 1, other: "ILIKE" })],
      standings: standingsOf(rounds, "pages/s"),
    }
  },
}

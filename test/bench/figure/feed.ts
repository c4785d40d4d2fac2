/** Pages of the feed against plain with a key, and its last tenth against its first. */
import { type Contestant, ourServer, postOne, yardsticks } from "../contestant.ts"
import { type Bench, divided, type Figure } from "../figure.ts"
import { getRequest } from "../load/request.ts"
import { alternate, type Entrant, faster, standingsOf } from "../rounds.ts"
import { seedEvents, seedPlainEvents } from "../seed.ts"
import { KEY_TABLES } from "../yardstick/keyAndRate.ts"

const LIMIT = 1000
const CONNECTIONS = 4

/** Walks the whole feed once and returns the request of every page, so that the measurement follows prepared cursors. */
const pagesOf = async ({ port }: Contestant, path: string, key: string): Promise<ReadonlyArray<string>> => {
  const requests: Array<string> = []
  for (let cursor: string | null = null; ;) {
    const at: string = `${path}?limit=${LIMIT}${cursor === null ? "" : `&cursor=${encodeURIComponent(cursor)}`}`
    const answer = await fetch(`http://127.0.0.1:${port}${at}`, { headers: { authorization: `Bearer ${key}` } })
    const page = (await answer.json()) as { data: ReadonlyArray<unknown>; has_more: boolean; next_cursor: string }
    if (page.data.length === LIMIT) requests.push(getRequest(at, key))
    if (!page.has_more) return requests
    cursor = page.next_cursor
  }
}

const seeded = async ({ cluster }: Bench, events: number) => {
  const our = async () => {
    const url = await cluster.database("ours")
    const server = await ourServer(url)
    await postOne(server)
    await seedEvents(cluster, url, events)
    return server
  }
  const their = async () => {
    const url = await cluster.database("plain")
    await cluster.run(url, ...KEY_TABLES)
    await seedPlainEvents(cluster, url, events)
    return yardsticks("plain with a key", "plainFeed", async () => ({ DATABASE_URL: url }))
  }
  const [ours, plain] = await Promise.all([our(), their()])
  return { ours, plain }
}

export const feed: Figure = {
  name: "feed",
  title: "The feed in pages of 1,000",
  caption:
    "ours: looks up the key and counts the request, checks which accepts are in progress (the fence), then writes each event around its payload, which passes through with its digits and its order of keys as sent. plain with a key: one statement that looks up the key by its hash and counts the request, then one prepared SELECT by (xid, id) behind pg_snapshot_xmin, payloads through JSON.parse and JSON.stringify.",
  measure: async (bench) => {
    const events = bench.sized(20_000, 1_000_000)
    const { ours, plain } = await seeded(bench, events)
    const mine = await pagesOf(ours, "/api/v1/events", ours.key)
    const theirs = await pagesOf(plain, "/events", "bench")
    const tenth = Math.max(1, Math.floor(mine.length / 10))
    const entrant = (name: string, requests: ReadonlyArray<string>): Entrant => ({ ...ours, name, requests })
    const kind = { connections: CONNECTIONS, rate: null }
    const against = await alternate(bench, [entrant("ours", mine), { ...plain, requests: theirs }], kind)
    const ends = await alternate(
      bench,
      [entrant("first tenth", mine.slice(0, tenth)), entrant("last tenth", mine.slice(-tenth))],
      kind,
    )
    await Promise.all([ours.stop(), plain.stop()])
    const rates = (name: string) => ends.get(name)!.map(({ rate }) => rate)
    const cpu = (name: string) => ends.get(name)!.map((one) => one.cpu.server + one.cpu.database)
    return {
      goals: [
        faster(against, "ours", "plain with a key", {
          work: `feed, pages of 1,000 over ${events.toLocaleString("en")} events`,
          atLeast: 2.5,
        }),
        {
          work: "the same, time of a page in the last tenth",
          goal: "≤ 1.1 × first tenth",
          atMost: 1.1,
          ratios: divided(rates("first tenth"), rates("last tenth")),
          cpuRatios: divided(cpu("last tenth"), cpu("first tenth")),
        },
      ],
      standings: [...standingsOf(against, "pages/s"), ...standingsOf(ends, "pages/s")],
    }
  },
}

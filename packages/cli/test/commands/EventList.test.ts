/**
 * Where `event list` and the library's feed begin by default: the command at the newest events, a program at the
 * beginning.
 */
import { type Cabinet, openCabinet } from "data-cabinet"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase({ empty: true })
let cabinet: Cabinet
let between: Date

interface Page {
  readonly data: ReadonlyArray<{ readonly payload: { readonly n: number } }>
  readonly has_more: boolean
  readonly next_cursor: string
}

const numbers = ({ data }: Page) => data.map(({ payload }) => payload.n)

const list = async (...words: ReadonlyArray<string>): Promise<Page> => {
  const { code, printed, said } = await call(["event", "list", ...words, "--json"])
  expect([code, said]).toEqual([0, ""])
  return JSON.parse(printed) as Page
}

const upTo = (first: number, last: number) => Array.from({ length: last - first + 1 }, (_, index) => first + index)

beforeAll(async () => {
  cabinet = await openCabinet({ databaseUrl: database.url, baseUrl: "http://shop.example", delivery: false })
  vi.stubEnv("DATABASE_URL", database.url)
  vi.stubEnv("BASE_URL", "")
  const orders = await cabinet.sources.create({ name: "Orders" })
  const letters = await cabinet.sources.create({ name: "Letters" })
  for (const n of upTo(1, 25)) {
    if (n === 21) {
      await new Promise((resolve) => setTimeout(resolve, 20))
      between = new Date()
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    await cabinet.intake(n % 5 === 0 ? letters.id : orders.id, { fields: { n } })
  }
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await cabinet.close()
})

it("shows the newest 20, or as many as requested, newest last", async () => {
  const newest = await list()
  expect(numbers(newest)).toEqual(upTo(6, 25))
  expect(newest.has_more).toBe(false)
  expect(numbers(await list("--tail", "3"))).toEqual([23, 24, 25])
  expect(numbers(await list("--limit", "4"))).toEqual([22, 23, 24, 25])
  expect(numbers(await list("--tail", "1000"))).toEqual(upTo(1, 25))
  expect(numbers(await list("--source", "Letters", "--tail", "2"))).toEqual([20, 25])
  expect(numbers(await list("--source", "Letters", "--channel", "webhook"))).toEqual([5, 10, 15, 20, 25])
  expect(numbers(await list("--channel", "file"))).toEqual([])
  expect(numbers(await list("--cursor", newest.next_cursor))).toEqual([])
})

it("shows all events from the beginning, or those since a time, page by page", async () => {
  expect(numbers(await list("--all"))).toEqual(upTo(1, 25))
  const page = await list("--all", "--limit", "10")
  expect([numbers(page), page.has_more]).toEqual([upTo(1, 10), true])
  expect(numbers(await list("--cursor", page.next_cursor))).toEqual(upTo(11, 25))
  expect(numbers(await list("--since", between.toISOString()))).toEqual(upTo(21, 25))
  expect(numbers(await list("--since", between.toISOString(), "--source", "Letters"))).toEqual([25])
  expect(numbers(await list("--since", "1h"))).toEqual(upTo(1, 25))
  expect(numbers(await list("--since", "2999-01-01T00:00:00Z"))).toEqual([])
  expect(numbers(await list("--from-now"))).toEqual([])
})

it.for([
  [["--all", "--tail", "3"], "Only one of --cursor, --all, --tail, --since and --from-now may be given."],
  [["--tail", "0"], "it must be a number from 1 to 1000"],
  [["--since", "yesterday"], "it must be a time such as 2026-11-21T09:30:00Z, or a duration such as 30m"],
  [["--limit", "many"], "limit must be"],
  [["--source", "Nobody"], "Nobody"],
] as const)("refuses %s", async ([words, message]) => {
  const { code, said } = await call(["event", "list", ...words])
  expect(code).not.toBe(0)
  expect(said).toContain(message)
})

it("feed starts where the program asks, and gives a cursor with each event", async () => {
  const read = async (options: Parameters<Cabinet["feed"]>[0]) => {
    const events: Array<readonly [number, string]> = []
    for await (const event of cabinet.feed(options)) events.push([event.payload["n"] as number, event.cursor])
    return events
  }
  const since = await read({ from: { time: between } })
  expect(since.map(([n]) => n)).toEqual(upTo(21, 25))
  expect((await read({ from: { time: between.toISOString() }, pageSize: 2 })).map(([n]) => n)).toEqual(upTo(21, 25))
  // From its first event on: not from the beginning.
  expect((await read({ from: since[1]![1] })).map(([n]) => n)).toEqual([23, 24, 25])
  expect(await read({ from: "now" })).toEqual([])
  expect((await read({})).length).toBe(25)
  await expect(read({ from: { time: "soon" } })).rejects.toMatchObject({ code: "bad_period", param: "from" })
  await expect(read({ from: { time: new Date(Number.NaN) } })).rejects.toMatchObject({ code: "bad_period" })
  const followed = cabinet.feed({ from: "now", follow: true })[Symbol.asyncIterator]()
  let isHere = false
  const next = followed.next().finally(() => (isHere = true))
  const [source] = await cabinet.sources.list()
  // Until it follows: what comes before is not from now on.
  for (let n = 26; !isHere; n++) {
    await cabinet.intake(source!.id, { fields: { n } })
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  expect((await next).value.payload.n).toBeGreaterThan(25)
  await followed.return?.()
})

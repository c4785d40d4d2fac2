/** A source has at most 100,000 addresses, including those of every source, and at most 1,000 with a filter. */
import type { Subscription } from "@data-cabinet/core/delivery/Address"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Effect, Exit } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"
import type { AddressChange } from "@data-cabinet/core/delivery/NewAddress"

let cabinet: DeliveryCabinet
let source: number
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  source = await cabinet.begin()
})

const create = (sources: Subscription) => cabinet.book((book) => book.create({ url: "https://example.com/", sources }))

const FILTERS = [{ fc: "kind", fo: "eq", fv: "order" }] as const

/** As if so many addresses without a filter were there: their number is kept, and not counted. */
const fill = (count: number, ofSource: number | "all") =>
  cabinet.run(`
    INSERT INTO cabinet.subscription_count AS c (source_id, addresses) VALUES (${ofSource === "all" ? 0 : ofSource}, ${count})
    ON CONFLICT (source_id) DO UPDATE SET addresses = c.addresses + excluded.addresses`)

/** Addresses as the service creates them, without checking how many there are. */
const add = (count: number, ofSource: number | "all", filters: string | null = null) =>
  cabinet.run(`
    WITH made AS (
      INSERT INTO cabinet.address (url, secret, every_source, filters)
      SELECT 'https://example.com/' || n, 'whsec_', ${ofSource === "all"}, ${filters === null ? "NULL" : `'${filters}'::json`}
      FROM generate_series(1, ${count}) n RETURNING id
    )
    INSERT INTO cabinet.address_source (address_id, source_id)
    SELECT id, ${ofSource === "all" ? 0 : ofSource} FROM made WHERE ${ofSource !== "all"}`)

const full = (id: number) => ({
  code: "too_many_addresses",
  message: `Source ${id} has 100,000 addresses, those of every source included, which is as many as it may have: remove one first.`,
})

it("create refuses the 100,001st address of a source, and takes it once another is removed", async () => {
  const other = await cabinet.source("Others")
  const removed = await create([source])
  await fill(99_999, source)
  await expect(create([source])).rejects.toMatchObject(full(source))
  await expect(create([other, source])).rejects.toMatchObject(full(source))
  await expect(create("all")).rejects.toMatchObject(full(source))
  expect(await cabinet.book((book) => book.list({ after: 0, limit: 100 }))).toEqual([removed])
  expect((await create([other])).sources).toEqual([other])
  await cabinet.book((book) => book.remove(removed.id))
  expect((await create([source])).sources).toEqual([source])
})

it("create counts the addresses of every source, also for a source that is created after them", async () => {
  await fill(99_600, "all")
  await fill(400, source)
  await expect(create([source])).rejects.toMatchObject(full(source))
  await expect(create("all")).rejects.toMatchObject(full(source))
  await fill(-400, source)
  await fill(400, "all")
  const later = await cabinet.source("Later")
  await expect(create([later])).rejects.toMatchObject(full(later))
  await expect(create("all")).rejects.toMatchObject({
    code: "too_many_addresses",
    message: /^There are 100,000 addresses of every source/,
  })
})

it("set refuses a source that has its maximum, and allows other changes of the address", async () => {
  const other = await cabinet.source("Others")
  const address = await create([other])
  const its = (await create([source])).id
  await fill(99_999, source)
  const set = (change: { readonly url?: string; readonly sources?: Subscription }) =>
    cabinet.book((book) => book.set(address.id, change))
  await expect(set({ sources: [other, source] })).rejects.toMatchObject(full(source))
  await expect(set({ sources: "all" })).rejects.toMatchObject(full(source))
  expect(await cabinet.book((book) => book.get(address.id))).toEqual(address)
  // A source that had more before the limit existed keeps them.
  await fill(5, source)
  const change = (sources: Subscription) => cabinet.book((book) => book.set(its, { sources }))
  expect((await change([source])).sources).toEqual([source])
  expect((await set({ url: "https://example.com/other" })).url).toBe("https://example.com/other")
})

it("create gives a source exactly as many addresses as it may have when many are added at once", async () => {
  await fill(99_994, source)
  const exits = await cabinet.runtime.runPromise(
    Effect.forEach(
      Array.from({ length: 12 }),
      (_, n) => Effect.exit(Effect.promise(() => Promise.allSettled([create(n % 3 === 0 ? "all" : [source])]))),
      { concurrency: "unbounded" },
    ),
  )
  const results = exits.flatMap((exit) => (Exit.isSuccess(exit) ? exit.value : []))
  const refusals = results.flatMap((result) =>
    result.status === "rejected" ? [(result.reason as { code?: string }).code ?? String(result.reason)] : [],
  )
  expect(refusals).toEqual(Array.from({ length: 6 }, () => "too_many_addresses"))
  expect(await cabinet.book((book) => book.list({ after: 0, limit: 100 }))).toHaveLength(6)
})

it("create and set refuse the 1,001st address of a source with a filter, and take one without", async () => {
  const other = await cabinet.source("Others")
  await add(600, "all", JSON.stringify(FILTERS))
  await add(400, source, JSON.stringify(FILTERS))
  const filtered = (sources: Subscription) =>
    cabinet.book((book) => book.create({ url: "https://example.com/", sources, filters: FILTERS }))
  const refused = {
    code: "too_many_addresses",
    message: `Source ${source} has 1,000 addresses with a filter, those of every source included, which is as many as it may have: remove one first.`,
  }
  await expect(filtered([source])).rejects.toMatchObject(refused)
  await expect(filtered("all")).rejects.toMatchObject(refused)
  const [plain, elsewhere] = [await create([source]), await filtered([other])]
  const set = (id: number, change: AddressChange) => cabinet.book((book) => book.set(id, change))
  await expect(set(plain.id, { filters: FILTERS })).rejects.toMatchObject(refused)
  await expect(set(elsewhere.id, { sources: [other, source] })).rejects.toMatchObject(refused)
  expect((await set(plain.id, { sources: [source, other] })).sources).toEqual([source, other])
  expect((await set(elsewhere.id, { sources: [other, source], filters: [] })).sources).toEqual([source, other])
})

it("append creates up to 100 deliveries of an event itself, and leaves more of them to the follower", async () => {
  const append = async () => {
    const [{ version }] = (await cabinet.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)) as [
      { version: number },
    ]
    const event = { ...fingerprintedEvent(new Map([["a", "1"]])), fingerprint: null }
    const request = {
      sourceId: source,
      sourceVersion: version,
      channel: "webhook",
      history: false,
      original: null,
    } as const
    await cabinet.runtime.runPromise(EventLog.use((log) => appendEvents(log, { ...request, events: [event] })))
  }
  const made = () =>
    cabinet.run(
      "SELECT (SELECT count(*) FROM cabinet.delivery)::int AS due, (SELECT count(*) FROM cabinet.fan_out)::int AS left",
    )
  await add(60, "all")
  await add(40, source)
  await append()
  expect(await made()).toEqual([{ due: 100, left: 0 }])
  const one = await create([source])
  await append()
  expect(await made()).toEqual([{ due: 100, left: 1 }])
  await cabinet.book((book) => book.remove(one.id))
  await append()
  expect(await made()).toEqual([{ due: 200, left: 1 }])
  await add(300, source)
  await append()
  expect(await made()).toEqual([{ due: 200, left: 2 }])
})

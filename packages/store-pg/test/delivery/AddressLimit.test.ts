/**
 * A source has at most 1,000 addresses, including those subscribed to every source, which limits what one accept
 * creates.
 */
import type { Subscription } from "@data-cabinet/core/delivery/Address"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog, type NewEvent } from "@data-cabinet/core/event/EventLog"
import { Effect, Exit } from "effect"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"

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

/** Addresses as the service creates them, but without checking their number. */
const fill = (count: number, ofSource: number | "all") =>
  cabinet.run(`
    WITH made AS (
      INSERT INTO cabinet.address (url, secret, every_source)
      SELECT 'https://example.com/' || n, 'whsec_', ${ofSource === "all"} FROM generate_series(1, ${count}) n RETURNING id
    )
    INSERT INTO cabinet.address_source (address_id, source_id)
    SELECT id, ${ofSource === "all" ? 0 : ofSource} FROM made WHERE ${ofSource !== "all"}`)

const full = (id: number) => ({
  code: "too_many_addresses",
  message: `Source ${id} has 1,000 addresses, those of every source included, which is as many as it may have: remove one first.`,
})

it("create refuses the 1,001st address of a source, and takes it once another is removed", async () => {
  const other = await cabinet.source("Others")
  const removed = await create([source])
  await fill(999, source)
  await expect(create([source])).rejects.toMatchObject(full(source))
  await expect(create([other, source])).rejects.toMatchObject(full(source))
  await expect(create("all")).rejects.toMatchObject(full(source))
  expect(await cabinet.book((book) => book.list)).toHaveLength(1_000)
  expect((await create([other])).sources).toEqual([other])
  await cabinet.book((book) => book.remove(removed.id))
  expect((await create([source])).sources).toEqual([source])
})

it("create counts the addresses of every source, also for a source that is created after them", async () => {
  await fill(600, "all")
  await fill(400, source)
  await expect(create([source])).rejects.toMatchObject(full(source))
  await expect(create("all")).rejects.toMatchObject(full(source))
  await cabinet.run("DELETE FROM cabinet.address_source")
  await fill(400, "all")
  const later = await cabinet.source("Later")
  await expect(create([later])).rejects.toMatchObject(full(later))
  await expect(create("all")).rejects.toMatchObject({
    code: "too_many_addresses",
    message: /^There are 1,000 addresses of every source/,
  })
})

it("set refuses a source that has its maximum, and allows other changes of the address", async () => {
  const other = await cabinet.source("Others")
  const address = await create([other])
  await fill(1_000, source)
  const set = (change: { readonly url?: string; readonly sources?: Subscription }) =>
    cabinet.book((book) => book.set(address.id, change))
  await expect(set({ sources: [other, source] })).rejects.toMatchObject(full(source))
  await expect(set({ sources: "all" })).rejects.toMatchObject(full(source))
  expect(await cabinet.book((book) => book.get(address.id))).toEqual(address)
  // A source that had more before the limit existed keeps them.
  const [one] = await cabinet.run(
    `SELECT min(address_id)::int AS id FROM cabinet.address_source WHERE source_id = ${source}`,
  )
  await fill(5, source)
  const its = one!["id"] as number
  const change = (sources: Subscription) => cabinet.book((book) => book.set(its, { sources }))
  expect((await change([source])).sources).toEqual([source])
  expect((await set({ url: "https://example.com/other" })).url).toBe("https://example.com/other")
})

it("create gives a source exactly 1,000 addresses when many are added at once", async () => {
  await fill(994, source)
  const exits = await cabinet.runtime.runPromise(
    Effect.forEach(
      Array.from({ length: 12 }),
      (_, n) => Effect.exit(Effect.promise(() => Promise.allSettled([create(n % 3 === 0 ? "all" : [source])]))),
      { concurrency: "unbounded" },
    ),
  )
  const results = exits.flatMap((exit) => (Exit.isSuccess(exit) ? exit.value : []))
  expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(6)
  expect(await cabinet.book((book) => book.list)).toHaveLength(1_000)
})

it("append gives each event a delivery to every address of a source with the maximum", async () => {
  await fill(1_000, "all")
  const [{ version }] = (await cabinet.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)) as [
    { version: number },
  ]
  const batchOf = (sender: number): ReadonlyArray<NewEvent> =>
    Array.from({ length: 10 }, (_, n) => fingerprintedEvent(new Map([["a", `${sender} ${n}`]])))
  const receipts = await cabinet.runtime.runPromise(
    Effect.forEach(
      [1, 2],
      (sender) =>
        EventLog.use((log) =>
          appendEvents(log, {
            sourceId: source,
            sourceVersion: version,
            channel: "webhook",
            history: false,
            events: batchOf(sender),
            original: null,
          }),
        ),
      { concurrency: "unbounded" },
    ),
  )
  expect(receipts.flat()).toHaveLength(20)
  expect(await cabinet.run("SELECT count(*)::int AS deliveries FROM cabinet.delivery")).toEqual([
    { deliveries: 20_000 },
  ])
})

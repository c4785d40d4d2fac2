/** A delivery that succeeded on its first attempt leaves the queue, and can still be read. */
import type { DeliveryList } from "@data-cabinet/core/delivery/Deliveries"
import type { Claimed, DeliveryPlace } from "@data-cabinet/core/delivery/DeliveryQueue"
import { Trash } from "@data-cabinet/core/event/Trash"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { claimOf, type DeliveryCabinet, openDeliveryCabinet, settlementOf } from "./deliveryCabinet.ts"

let cabinet: DeliveryCabinet
let source: number
let addressId: number
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  source = await cabinet.begin()
  addressId = (await cabinet.book((book) => book.create({ url: "https://example.com/hook", sources: "all" }))).id
})

const claim = (change = {}) => cabinet.queue((queue) => queue.claim(claimOf(change)))
/** Claims this many, in as many claims as necessary. */
const claimMany = async (count: number) => {
  const claimed: Array<Claimed> = []
  while (claimed.length < count) {
    const more = await claim({ limit: count - claimed.length, perAddress: count })
    if (more.length === 0) break
    claimed.push(...more)
  }
  return claimed
}
const settle = (...batch: ReadonlyArray<ReturnType<typeof settlementOf>>) =>
  cabinet.queue((queue) => queue.settle(batch))
const log = () => cabinet.queue((queue) => queue.log({ addressId, limit: 10_000 }))
const ofEvent = (event: number) => cabinet.queue((queue) => queue.ofEvent(event))
const queued = async () =>
  (await cabinet.run("SELECT id::int FROM cabinet.delivery ORDER BY id")).map((row) => row["id"] as number)
const resendAll = () =>
  cabinet.deliveries((all) =>
    all.resendRange({ addressId, from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z", only: "all" }),
  )

it("a delivery that its first attempt delivered leaves the queue and looks the same; one that took longer stays", async () => {
  const [quick, slow] = await cabinet.accept(source, 2)
  const before = [...(await ofEvent(quick!)), ...(await ofEvent(slow!))]
  const [one, two] = await claim()
  await settle(settlementOf(one!, 204), settlementOf(two!, 500))
  await cabinet.pass("31 seconds")
  await settle(...(await claim()).map((again) => settlementOf(again, 200)))
  expect(await queued()).toEqual([two!.id])
  const after = [...(await ofEvent(quick!)), ...(await ofEvent(slow!))]
  expect(after).toEqual([
    { ...before[0], state: "delivered", attempts: 1, dueAt: null, lastAttempt: after[0]!.lastAttempt },
    { ...before[1], state: "delivered", attempts: 2, dueAt: null, lastAttempt: after[1]!.lastAttempt },
  ])
  expect(after.map(({ lastAttempt }) => lastAttempt)).toMatchObject([
    { number: 1, outcome: "delivered", status: 204, reason: null },
    { number: 2, outcome: "delivered", status: 200, reason: null },
  ])
  expect(await cabinet.deliveries((all) => all.cancel(one!.id))).toEqual(after[0])
  expect((await log()).map(({ deliveryId, type, eventId, number }) => [deliveryId, type, eventId, number])).toEqual([
    [two!.id, "event.received", slow, 2],
    [two!.id, "event.received", slow, 1],
    [one!.id, "event.received", quick, 1],
  ])
})

it("neither claiming nor settling adds to an index of deliveries", async () => {
  const sizes = () =>
    cabinet.run(
      `SELECT indexrelid::regclass::text AS name, pg_relation_size(indexrelid)::int AS bytes FROM pg_index
       WHERE indrelid = 'cabinet.delivery'::regclass ORDER BY 1`,
    )
  // A row that stays on its page without a change of an indexed column adds no index entries.
  const pages = () =>
    cabinet.run("SELECT id::int, (ctid::text::point)[0]::int AS page FROM cabinet.delivery ORDER BY id")
  await cabinet.accept(source, 5000)
  const before = { sizes: await sizes(), pages: await pages() }
  const batch = await claimMany(5000)
  expect(batch).toHaveLength(5000)
  expect(await pages()).toEqual(before.pages)
  await settle(...batch.map((delivery) => settlementOf(delivery, 200)))
  expect(await queued()).toEqual([])
  expect(await sizes()).toEqual(before.sizes)
})

it("a resent delivery is queued again, once, with its number and its attempts", async () => {
  const [event] = await cabinet.accept(source)
  const [first] = await claim()
  await settle(settlementOf(first!, 204))
  const [left] = await ofEvent(event!)
  const twice = await Promise.all([1, 2].map(() => cabinet.deliveries((all) => all.resend(first!.id))))
  for (const one of twice) expect(one).toMatchObject({ ...left, state: "due", dueAt: expect.any(String) })
  const [second] = await claim()
  expect(second).toMatchObject({
    id: first!.id,
    attempt: 2,
    failures: 0,
    event: first!.event,
    createdAt: first!.createdAt,
  })
  await settle(settlementOf(second!, 200))
  expect(await queued()).toEqual([first!.id])
  expect(await ofEvent(event!)).toMatchObject([{ ...left, attempts: 2, lastAttempt: { number: 2 } }])
  expect((await log()).map(({ number }) => number)).toEqual([2, 1])
})

it("resending a failing delivery resets its retry interval", async () => {
  await cabinet.accept(source)
  const [first] = await claim()
  await settle(settlementOf(first!, 500))
  await cabinet.deliveries((all) => all.resend(first!.id))
  expect(await claim()).toMatchObject([{ id: first!.id, attempt: 2, failures: 0 }])
})

it("resending a delivery in flight does not change how its attempt ends", async () => {
  await cabinet.accept(source)
  await settle(settlementOf((await claim())[0]!, 500))
  await cabinet.pass("31 seconds")
  const [second] = await claim({ lane: "failing" })
  expect(await cabinet.deliveries((all) => all.resend(second!.id))).toMatchObject({ state: "due", attempts: 2 })
  await settle(settlementOf(second!, 500))
  await cabinet.pass("31 seconds")
  expect(await claim({ lane: "failing" })).toMatchObject([{ id: second!.id, attempt: 3, failures: 2 }])
})

it("a whole time range is resent, past thousands that are in flight", async () => {
  await cabinet.accept(source, 2003)
  const batch = await claimMany(2002)
  await settle(settlementOf(batch.at(-1)!, 200))
  expect(batch).toHaveLength(2002)
  expect(await resendAll()).toBe(2)
  const last = batch.at(-1)!.id
  expect(Object.fromEntries((await claim()).map(({ id, attempt }) => [id, attempt]))).toEqual({
    [last]: 2,
    [last + 1]: 1,
  })
})

it("thousands that have left the queue are resent once each, by the range of their creation", async () => {
  await cabinet.book((book) => book.create({ url: "https://example.com/other", sources: "all" }))
  const early = await cabinet.accept(source, 1)
  await cabinet.pass("1 hour")
  const events = await cabinet.accept(source, 4500)
  await settle(...(await claimMany(9002)).map((delivery) => settlementOf(delivery, 200)))
  expect(await queued()).toEqual([])
  await cabinet.run(`UPDATE cabinet.event SET deleted_at = cabinet.now() WHERE id = ${events[3000]}`)
  const from = (await ofEvent(events[0]!))[0]!.createdAt
  const resend = (begin: string, end: string) =>
    cabinet.deliveries((all) => all.resendRange({ addressId, from: begin, to: end, only: "all" }))
  expect(await resend("2000-01-01T00:00:00Z", "2000-01-02T00:00:00Z")).toBe(0)
  expect(await resend(from, "2100-01-01T00:00:00Z")).toBe(4499)
  const again = await claimMany(4499)
  const told = again
    .map(({ event }) => (JSON.parse(Buffer.from(event!.json).toString()) as { id: number }).id)
    .sort((a, b) => a - b)
  expect(told).toEqual(events.filter((_, n) => n !== 3000))
  expect(new Set(again.map((one) => `${one.recipient.addressId} ${one.attempt}`))).toEqual(new Set([`${addressId} 2`]))
  expect(told).not.toContain(early[0])
})

it("a delivered ping is still a ping", async () => {
  const ping = await cabinet.ping(addressId)
  await settle(settlementOf(ping, 200))
  expect(await queued()).toEqual([])
  expect(await log()).toMatchObject([{ deliveryId: ping.id, type: "ping", eventId: null, delivered: true }])
  await expect(cabinet.deliveries((all) => all.resend(ping.id))).rejects.toMatchObject({
    message: expect.stringContaining("it is a ping"),
  })
  expect(await resendAll()).toBe(0)
})

it("a purge erases the responses to it, and to earlier attempts", async () => {
  const events = await cabinet.accept(source, 2)
  const [one, two] = await claim()
  await settle(settlementOf(one!, 200), settlementOf(two!, 500))
  expect((await log()).map(({ responseBody }) => responseBody)).toEqual(["ok", "ok"])
  expect(await cabinet.runtime.runPromise(Trash.use((trash) => trash.purge([...events])))).toBe(2)
  expect((await log()).map(({ responseBody }) => responseBody)).toEqual([null, null])
})

it("a delivery that left the queue expires with its day of the log, and one that took longer with its last attempt", async () => {
  const [quick, slow] = await cabinet.accept(source, 2)
  const [one, two] = await claim()
  await settle(settlementOf(one!, 200), settlementOf(two!, 500))
  await cabinet.pass("31 seconds")
  await settle(...(await claim()).map((again) => settlementOf(again, 200)))
  await cabinet.pass("32 days")
  await cabinet.queue((queue) => queue.prune({ deliveredDays: 30, failedDays: 90 }))
  expect(await ofEvent(quick!)).toEqual([])
  expect(await ofEvent(slow!)).toMatchObject([{ id: two!.id, state: "delivered" }])
  await expect(cabinet.deliveries((all) => all.resend(one!.id))).rejects.toMatchObject({ code: "no_such_delivery" })
})

it("what a worker of the previous version settled is read and resent like the others", async () => {
  const [event] = await cabinet.accept(source)
  const [first] = await claim()
  await cabinet.run(
    `INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, status)
     SELECT id, 1, address_id, claimed_at, true, 1, 200 FROM cabinet.delivery`,
  )
  await cabinet.run("UPDATE cabinet.delivery SET state = 'delivered', claimed_at = NULL, leased_until = NULL")
  expect(await ofEvent(event!)).toMatchObject([{ id: first!.id, state: "delivered", attempts: 1, dueAt: null }])
  expect(await log()).toMatchObject([{ type: "event.received", eventId: event, delivered: true }])
  expect(await resendAll()).toBe(1)
  expect(await claim()).toMatchObject([{ id: first!.id, attempt: 2 }])
})

it("deliveries are listed by state, newest first and page by page, wherever they are stored; those that wait for a retry can be resent alone", async () => {
  const events = await cabinet.accept(source, 5)
  const claimed = await claimMany(5)
  const sorted = claimed.toSorted((one, other) => one.id - other.id)
  const [gone, slow, failing, ended, waiting] = sorted as [Claimed, Claimed, Claimed, Claimed, Claimed]
  await settle(settlementOf(gone, 204), settlementOf(slow, 500), settlementOf(failing, 503))
  await settle(settlementOf(ended, 200))
  await cabinet.queue((queue) => queue.release([waiting]))
  await cabinet.deliveries((every) => every.cancel(slow.id))
  const list = async (query: object) => {
    const filter = { addressId: null, eventId: null, state: null }
    const { items } = await cabinet.deliveries((every) => every.list({ limit: 10, before: null, ...filter, ...query }))
    return items.map(({ id }) => id)
  }
  // The one without an attempt counts by its creation.
  const all = [ended.id, failing.id, slow.id, gone.id, waiting.id]
  expect(await list({})).toEqual(all)
  expect(await list({ state: "delivered" })).toEqual([ended.id, gone.id])
  expect(await list({ state: "cancelled", addressId })).toEqual([slow.id])
  expect(await list({ state: "due" })).toEqual([failing.id, waiting.id])
  expect(await list({ addressId: addressId + 1 })).toEqual([])
  expect(await list({ eventId: events[0]! })).toEqual([gone.id])
  expect(await list({ eventId: events[0]!, state: "due" })).toEqual([])
  expect(await list({ retrying: true })).toEqual([failing.id])
  expect(await list({ retrying: true, eventId: events[2]! })).toEqual([failing.id])
  expect(await list({ retrying: true, eventId: events[4]! })).toEqual([])
  expect(await list({ retrying: true, state: "delivered" })).toEqual([])
  expect(await list({ sourceId: source, state: "delivered" })).toEqual([ended.id, gone.id])
  expect(await list({ sourceId: source + 1 })).toEqual([])
  const at = (await cabinet.deliveries((every) => every.find(failing.id))).lastAttempt!.at
  expect(await list({ from: at })).toEqual(all.slice(0, 4))
  expect(await list({ to: at })).toEqual([waiting.id])
  expect(await list({ from: "2100-01-01T00:00:00Z" })).toEqual([])
  const walked: Array<number> = []
  for (let before: DeliveryPlace | null = null; ;) {
    const page: DeliveryList = await cabinet.deliveries((every) =>
      every.list({ limit: 2, before, addressId, eventId: null, state: null }),
    )
    walked.push(...page.items.map(({ id }) => id))
    if (page.next === null) break
    before = page.next
  }
  expect(walked).toEqual(all)
  const attempts = await cabinet.deliveries((every) => every.attemptsOf(failing.id))
  expect(attempts).toMatchObject([{ deliveryId: failing.id, number: 1, status: 503, eventId: events[2] }])

  const range = { addressId, from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" }
  expect(await cabinet.deliveries((every) => every.countRange({ ...range, only: "failed" }))).toBe(1)
  expect(await cabinet.deliveries((every) => every.countRange({ ...range, only: "all" }))).toBe(5)
  expect(await cabinet.deliveries((every) => every.resendRange({ ...range, only: "failed" }))).toBe(1)
  expect(await cabinet.deliveries((every) => every.countRange({ ...range, only: "failed" }))).toBe(0)
  expect(await list({ state: "delivered" })).toEqual([ended.id, gone.id])
  expect(await cabinet.deliveries((every) => every.resendRange({ ...range, only: "all" }))).toBe(5)
})

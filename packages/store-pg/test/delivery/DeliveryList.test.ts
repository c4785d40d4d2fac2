/** The list of deliveries: its order, its filters, and its pages, against what each delivery says of itself. */
import { DELIVERY_OUTCOMES, type Delivery } from "@data-cabinet/core/delivery/Attempt"
import type { DeliveryList, DeliveryQuery } from "@data-cabinet/core/delivery/Deliveries"
import type { DeliveryPlace } from "@data-cabinet/core/delivery/DeliveryQueue"
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest"
import { claimOf, type DeliveryCabinet, openDeliveryCabinet, settlementOf } from "./deliveryCabinet.ts"

let cabinet: DeliveryCabinet
let source: number
let addresses: ReadonlyArray<number>
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  source = await cabinet.begin()
  const made: Array<number> = []
  for (const path of ["a", "b", "c"]) {
    const address = { url: `https://example.com/${path}`, sources: "all" } as const
    made.push((await cabinet.book((book) => book.create(address))).id)
  }
  addresses = made
})

const ANY = { addressId: null, eventId: null, state: null }
const page = (query: Partial<DeliveryQuery> & Pick<DeliveryQuery, "limit">) =>
  cabinet.deliveries((every) => every.list({ before: null, ...ANY, ...query }))
const walk = async (limit: number, query: Partial<DeliveryQuery>): Promise<ReadonlyArray<Delivery>> => {
  const items: Array<Delivery> = []
  for (let before: DeliveryPlace | null = null; ;) {
    const list: DeliveryList = await page({ ...query, limit, before })
    items.push(...list.items)
    if (list.next === null) return items
    before = list.next
  }
}
const ids = (items: ReadonlyArray<Delivery>) => items.map(({ id }) => id)

/** Sixty deliveries: delivered at once, later, refused, failed, unanswered, cancelled, and never attempted. */
const fill = async () => {
  const statuses = [204, 400, 503, null, 302, 200, 404]
  for (let round = 0; round < 5; round++) {
    await cabinet.accept(source, 4)
    for (const lane of ["healthy", "failing"] as const) {
      const claimed = await cabinet.queue((queue) => queue.claim(claimOf({ lane, limit: 7 + round })))
      const settled = claimed.map((one) => settlementOf(one, statuses[(one.id + round) % statuses.length]!, 20))
      await cabinet.queue((queue) => queue.settle(settled))
    }
    await cabinet.pass("25 seconds")
  }
  const [first] = (await page({ limit: 1, outcome: "refused" })).items
  await cabinet.deliveries((every) => every.cancel(first!.id))
}

/** With all of its six decimals, of which trailing zeros are not written: as texts, such times compare as times do. */
const timeOf = ({ lastAttempt, createdAt }: Delivery) => {
  const [seconds, fraction = ""] = (lastAttempt?.at ?? createdAt).replace("Z", "").split(".")
  return `${seconds}.${fraction.padEnd(6, "0")}Z`
}
const newestFirst = (one: Delivery, other: Delivery) =>
  timeOf(one) === timeOf(other) ? other.id - one.id : timeOf(one) < timeOf(other) ? 1 : -1

it("list walks every delivery once, newest attempt first, whatever the filter and the size of its pages", async () => {
  await fill()
  const found = await Promise.all(
    (await cabinet.run("SELECT DISTINCT id::int FROM cabinet.delivery_all")).map((row) =>
      cabinet.deliveries((every) => every.find(row["id"] as number)),
    ),
  )
  const all = found.toSorted(newestFirst)
  expect(all).toHaveLength(60)
  const times = all.map(timeOf)
  const [early, late] = [times[45]!, times[12]!]
  const filters: ReadonlyArray<readonly [Partial<DeliveryQuery>, (one: Delivery) => boolean]> = [
    [{}, () => true],
    ...DELIVERY_OUTCOMES.map(
      (outcome) => [{ outcome }, (one: Delivery) => one.lastAttempt?.outcome === outcome] as const,
    ),
    [
      { outcome: "refused", state: "cancelled" },
      (one) => one.lastAttempt?.outcome === "refused" && one.state === "cancelled",
    ],
    [{ addressId: addresses[1]! }, ({ addressId }) => addressId === addresses[1]],
    [{ state: "due", retrying: true }, (one) => one.state === "due" && one.lastAttempt !== null],
    [{ from: early, to: late }, (one) => timeOf(one) >= early && timeOf(one) < late],
    [{ to: late, outcome: "delivered" }, (one) => timeOf(one) < late && one.lastAttempt?.outcome === "delivered"],
    [{ eventId: all[20]!.eventId }, ({ eventId }) => eventId === all[20]!.eventId],
    [{ sourceId: source, outcome: "error" }, (one) => one.lastAttempt?.outcome === "error"],
  ]
  for (const [query, belongs] of filters) {
    const expected = ids(all.filter(belongs))
    expect(expected.length, JSON.stringify(query)).toBeGreaterThan(0)
    for (const limit of [4, 100]) {
      const walked = await walk(limit, query)
      const about = JSON.stringify({ ...query, limit })
      expect(
        ids(walked).toSorted((one, other) => one - other),
        about,
      ).toEqual(expected.toSorted((one, other) => one - other))
      const attempted = walked.filter(({ lastAttempt }) => lastAttempt !== null)
      expect(ids(attempted), about).toEqual(ids(attempted.toSorted(newestFirst)))
      // Their numbers stand for their times.
      const untried = ids(walked.filter(({ lastAttempt }) => lastAttempt === null))
      expect(untried, about).toEqual(untried.toSorted((one, other) => other - one))
    }
  }
})

it("list shows the outcome of an attempt whose worker ended, and forgets none of an attempt that is under way", async () => {
  await cabinet.accept(source, 1)
  const [one] = await cabinet.queue((queue) => queue.claim(claimOf({ limit: 1 })))
  await cabinet.queue((queue) => queue.settle([settlementOf(one!, 500)]))
  await cabinet.pass("2 minutes")
  await cabinet.queue((queue) => queue.claim(claimOf({ lane: "failing", leaseSeconds: 5 })))
  const under = await page({ limit: 5, outcome: "error" })
  expect(under.items).toMatchObject([{ id: one!.id, attempts: 2, lastAttempt: { number: 1, status: 500 } }])
  await cabinet.pass("1 minute")
  for (const lane of ["healthy", "failing"] as const) await cabinet.queue((queue) => queue.claim(claimOf({ lane })))
  const lost = await page({ limit: 5, outcome: "no_answer" })
  expect(ids(lost.items)).toContain(one!.id)
  expect(lost.items.map(({ lastAttempt }) => lastAttempt!.reason)[0]).toContain("The worker ended")
})

it("counts has the newest deliveries of a list by type and source, and says whether there are more", async () => {
  await fill()
  await cabinet.queue((queue) => queue.ping(addresses[0]!, 60))
  const count = async (examine: number, filter = {}) =>
    cabinet.queue((queue) => queue.counts({ ...ANY, ...filter }, examine))
  const groups = (found: ReadonlyArray<Delivery>) => {
    const pings = found.filter(({ type }) => type === "ping").length
    const events = { type: "event.received", sourceId: source, deliveries: found.length - pings }
    return [events, ...(pings === 0 ? [] : [{ type: "ping", sourceId: null, deliveries: pings }])]
  }
  const all = await walk(100, {})
  expect(await count(1_000)).toEqual({ groups: groups(all), whole: true })
  const refused = all.filter(({ lastAttempt }) => lastAttempt?.outcome === "refused")
  expect(await count(1_000, { outcome: "refused" })).toEqual({ groups: groups(refused), whole: true })
  expect(await count(10)).toEqual({ groups: groups(all.slice(0, 10)), whole: false })
  expect(await count(1_000, { sourceId: source + 1 })).toEqual({ groups: [], whole: true })
  for (const type of ["ping", "event.received"] as const) {
    const its = all.filter((one) => one.type === type)
    expect(await walk(3, { type })).toEqual(its)
    expect(await count(1_000, { type })).toEqual({
      groups: groups(all).filter((one) => one.type === type),
      whole: true,
    })
  }
})

it("resendListed sends again what the filter finds, each once, and countListed counts it before", async () => {
  await fill()
  const listed = { ...ANY, outcome: "delivered" } as const
  const before = (await walk(100, listed)).filter(({ state }) => state === "delivered")
  const [gone, kept] = before as [Delivery, Delivery]
  await cabinet.run(`UPDATE cabinet.event SET deleted_at = cabinet.now() WHERE id = ${gone.eventId}`)
  const alive = before.filter(({ eventId }) => eventId !== gone.eventId)
  expect(alive.length).toBeGreaterThan(5)
  const filter = { ...listed, state: "delivered" } as const
  expect(await cabinet.deliveries((every) => every.countListed(filter))).toBe(alive.length)
  expect(await cabinet.deliveries((every) => every.find(kept.id))).toEqual(kept)
  expect(await cabinet.deliveries((every) => every.resendListed(filter))).toBe(alive.length)
  const after = await walk(100, { ...listed, state: "due" })
  expect(ids(after)).toEqual(ids(alive))
  expect(after.map(({ lastAttempt }) => lastAttempt)).toEqual(alive.map(({ lastAttempt }) => lastAttempt))
  expect(await cabinet.deliveries((every) => every.countListed(filter))).toBe(0)
})

it("resendListed passes from slice to slice, through the queue and the log", async () => {
  await cabinet.accept(source, 2100)
  for (let left = 3000; left > 0;) {
    const claimed = await cabinet.queue((queue) => queue.claim(claimOf({ limit: 3000, perAddress: 1000 })))
    await cabinet.queue((queue) => queue.settle(claimed.map((one) => settlementOf(one, one.id % 3 === 0 ? 500 : 200))))
    left -= claimed.length
  }
  const filter = { ...ANY, sourceId: source }
  expect(await cabinet.deliveries((every) => every.countListed(filter))).toBe(6300)
  expect(await cabinet.deliveries((every) => every.resendListed(filter))).toBe(6300)
  expect(
    await cabinet.run("SELECT count(*)::int AS n FROM cabinet.delivery WHERE state = 'due' AND failures = 0"),
  ).toEqual([{ n: 6300 }])
})

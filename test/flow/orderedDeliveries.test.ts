/** Deliveries in the order of the feed, alone and in batches, by two processes of one cabinet. */
import { type Cabinet, openCabinet, verifyDelivery } from "data-cabinet"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { openReceiver } from "../fault/deliveryReceiver.ts"

const database = withDatabase()
let cabinets: ReadonlyArray<Cabinet>
let cabinet: Cabinet
const closing: Array<() => Promise<unknown>> = []

beforeAll(async () => {
  const open = () => openCabinet({ databaseUrl: database.url, allowedNetworks: ["127.0.0.0/8"] })
  cabinets = [await open(), await open()]
  cabinet = cabinets[0]!
})
afterAll(async () => {
  await Promise.all((cabinets ?? []).map((one) => one.close()))
  for (const close of closing) await close()
})

const receiver = async (...parameters: Parameters<typeof openReceiver>) => {
  const made = await openReceiver(...parameters)
  closing.push(made.close)
  return made
}

interface Body {
  readonly id: number
  readonly type: string
  readonly data: { readonly id: number; readonly payload: Record<string, unknown> }
  readonly events: ReadonlyArray<Body>
}
const parsed = (body: Buffer) => JSON.parse(String(body)) as Body

const source = () => cabinet.sources.create({ name: "Orders" })
/** Accepts events one after another, so that their order is known. */
const send = async (sourceId: number, count: number, more: Record<string, unknown> = {}) => {
  const ids: Array<number> = []
  for (let n = 0; n < count; n++) {
    const { id } = await cabinets[n % 2]!.intake(sourceId, {
      fields: { n, at: `${sourceId} ${Math.random()}`, ...more },
    })
    ids.push(id)
  }
  return ids
}
const later = (seconds: number) =>
  database.run(`UPDATE cabinet.clock SET shift = shift + interval '${seconds} seconds'`)
const WAIT = { timeout: 120_000 }

it("an address in order gets every event in the order of the feed, each as a single delivery", async () => {
  const from = await source()
  const good = await receiver()
  const { secret, id, position } = await cabinet.addresses.create({ url: good.url, sources: [from.id], order: "feed" })
  expect(position).toEqual({ eventId: null, behindSeconds: 0, waitsAt: null, failures: 0, error: null, retryAt: null })
  const ids = await send(from.id, 20)
  await good.received(20)
  expect(good.arrivals.map(({ body }) => parsed(body).data.id)).toEqual(ids)
  expect(good.most()).toBe(1)
  for (const { body, headers, id: number } of good.arrivals) {
    expect(verifyDelivery(body, headers["x-service-signature"] as string, secret)).toBe(true)
    expect(headers["x-service-event"]).toBe("event.received")
    expect(parsed(body)).toMatchObject({ id: number, type: "event.received" })
  }
  await vi.waitFor(async () => {
    const { position: now } = await cabinet.addresses.get(id)
    expect(now).toMatchObject({ eventId: ids.at(-1), behindSeconds: 0, failures: 0 })
    // A position is saved during a page, and the line of the log at its end.
    const log = await cabinet.addresses.log(id)
    expect(log.reduce((sum, { events }) => sum + events, 0)).toBe(20)
    expect(log[0]).toMatchObject({ eventId: ids.at(-1), delivered: true, status: 200 })
  }, WAIT)
  expect(await database.run(`SELECT 1 FROM cabinet.delivery WHERE address_id = ${id}`)).toEqual([])
  expect(await cabinet.addresses.resendRange(id, "2020-01-01T00:00:00Z", "2100-01-01T00:00:00Z")).toBe(20)
  await good.received(40)
  expect(new Set(good.arrivals.slice(20).map(({ body }) => parsed(body).data.id))).toEqual(new Set(ids))
})

it("a batch brings its events as their single deliveries would, digit by digit, under one signature", async () => {
  const from = await source()
  const good = await receiver()
  const address = { url: good.url, sources: [from.id], order: "feed", batch: { max: 3, wait: 0 } } as const
  const { secret, id } = await cabinet.addresses.create(address)
  await cabinet.addresses.pause(id)
  const ids = await send(from.id, 7, { digits: "12345678901234567890.10" })
  await cabinet.addresses.resume(id)
  await vi.waitFor(() => expect(good.arrivals.flatMap(({ body }) => parsed(body).events)).toHaveLength(7), WAIT)
  expect(good.arrivals.map(({ body }) => parsed(body).events.map(({ data }) => data.id))).toEqual([
    ids.slice(0, 3),
    ids.slice(3, 6),
    ids.slice(6),
  ])
  const numbers = good.arrivals.flatMap(({ body }) => parsed(body).events.map((one) => one.id))
  expect(new Set(numbers).size).toBe(7)
  for (const { body, headers, id: number } of good.arrivals) {
    expect(verifyDelivery(body, headers["x-service-signature"] as string, secret)).toBe(true)
    expect(headers["x-service-event"]).toBe("events.received")
    expect(parsed(body)).toMatchObject({ id: number, type: "events.received" })
    expect(parsed(body).events[0]).toMatchObject({ type: "event.received", source: { id: from.id, name: "Orders" } })
    expect(String(body)).toContain('"digits":"12345678901234567890.10"')
  }
})

it("a failing address waits at its event, holds back no other, and goes on when the event is skipped with a reason", async () => {
  const from = await source()
  const good = await receiver()
  let refused = 0
  const bad = await receiver(({ body }) => (parsed(body).data.payload["n"] === 1 && ++refused > 0 ? 500 : 200))
  const { id } = await cabinet.addresses.create({ url: bad.url, sources: [from.id], order: "feed" })
  await cabinet.addresses.create({ url: good.url, sources: [from.id], order: "feed" })
  const ids = await send(from.id, 4)
  await good.received(4)
  await bad.received(2)
  await vi.waitFor(async () => {
    const { position, failingSince } = await cabinet.addresses.get(id)
    expect(position).toMatchObject({ eventId: ids[0], waitsAt: ids[1], failures: 1, error: "responded with 500" })
    expect(failingSince).not.toBeNull()
  }, WAIT)
  // It also waits for what comes after the event, but not for other sources' events.
  await send((await source()).id, 1)
  const { waiting } = await cabinet.activity.overview()
  expect(waiting.find(({ addressId }) => addressId === id)).toMatchObject({ waiting: 3 })
  await later(31)
  await vi.waitFor(() => expect(bad.arrivals).toHaveLength(3), WAIT)
  expect(new Set(bad.arrivals.slice(1).map((one) => one.id)).size).toBe(1)
  await expect(cabinet.addresses.skip(id, ids[2]!, "not this one")).rejects.toThrow(
    `Address ${id} waits at event ${ids[1]}: only that one can be skipped.`,
  )
  await vi.waitFor(() => cabinet.addresses.skip(id, ids[1]!, "it was entered by hand"), WAIT)
  await bad.received(5)
  expect(bad.arrivals.map(({ body }) => parsed(body).data.id)).toEqual([ids[0], ids[1], ids[1], ids[2], ids[3]])
  await vi.waitFor(async () => {
    const log = await cabinet.addresses.log(id)
    expect(log.map(({ eventId, failure, delivered }) => [eventId, delivered, failure])).toContainEqual([
      ids[1],
      false,
      "skipped: it was entered by hand",
    ])
    expect(log.find(({ status, eventId }) => status === null && eventId === ids[1])?.reason).toBe(
      "It was skipped: it was entered by hand",
    )
    const { failingSince, position } = await cabinet.addresses.get(id)
    expect([failingSince, position?.waitsAt]).toEqual([null, null])
  }, WAIT)
})

it("a filter applies to the events accepted while it was set", async () => {
  const from = await source()
  const good = await receiver()
  const { id } = await cabinet.addresses.create({ url: good.url, sources: [from.id], order: "feed" })
  await cabinet.addresses.pause(id)
  const [before] = await send(from.id, 1, { kind: "a" })
  await cabinet.addresses.change(id, { filters: [{ fc: "kind", fo: "eq", fv: "b" }] })
  await send(from.id, 1, { kind: "a" })
  const [passing] = await send(from.id, 1, { kind: "b" })
  await cabinet.addresses.change(id, { filters: [{ fc: "kind", fo: "eq", fv: "c" }] })
  await send(from.id, 1, { kind: "b" })
  await cabinet.addresses.resume(id)
  await good.received(2)
  const [last] = await send(from.id, 1, { kind: "c" })
  await good.received(3)
  expect(good.arrivals.map(({ body }) => parsed(body).data.id)).toEqual([before, passing, last])
})

it("switching an address to the order of the feed and back loses nothing and repeats nothing", async () => {
  const from = await source()
  let isOpen = false
  const slow = await receiver(() => (isOpen ? 200 : 500))
  const { id } = await cabinet.addresses.create({ url: slow.url, sources: [from.id] })
  const first = await send(from.id, 3)
  await slow.received(3)
  // A failure that is recorded after the clock is set would be repeated half a minute later.
  const failed = `SELECT 1 FROM cabinet.delivery WHERE address_id = ${id} AND attempts = 1 AND claimed_at IS NULL`
  await vi.waitFor(async () => expect(await database.run(failed)).toHaveLength(3), WAIT)
  // They are due from the time without an order, and come before those with one.
  await cabinet.addresses.change(id, { order: "feed" })
  const second = await send(from.id, 3)
  isOpen = true
  await later(31)
  await vi.waitFor(() => expect(slow.arrivals).toHaveLength(9), WAIT)
  const seen = () => slow.arrivals.slice(3).map(({ body }) => parsed(body).data.id)
  expect(new Set(seen().slice(0, 3))).toEqual(new Set(first))
  expect(seen().slice(3)).toEqual(second)
  await cabinet.addresses.pause(id)
  const third = await send(from.id, 3)
  expect(await cabinet.addresses.change(id, { order: "none" })).toMatchObject({ order: "none", sources: [from.id] })
  const fourth = await send(from.id, 3)
  await cabinet.addresses.resume(id)
  await vi.waitFor(() => expect(slow.arrivals).toHaveLength(15), WAIT)
  expect(seen().filter((one) => third.includes(one))).toEqual(third)
  expect(new Set(seen().slice(6))).toEqual(new Set([...third, ...fourth]))
  await vi.waitFor(async () => expect((await cabinet.addresses.get(id)).position).toBeNull(), WAIT)
  await send(from.id, 2)
  await vi.waitFor(() => expect(slow.arrivals).toHaveLength(17), WAIT)
})

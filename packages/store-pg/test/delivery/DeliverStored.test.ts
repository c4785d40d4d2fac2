/** Stored events that become deliverable leave many filtered deliveries to the follower, as an accept does. */
import { FanOutStore } from "@data-cabinet/core/delivery/FanOut"
import { Trash } from "@data-cabinet/core/event/Trash"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { Option } from "effect"
import { afterAll, assert, beforeAll, beforeEach, it } from "vitest"
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

/** Addresses of the source whose filter only these events pass. */
const add = async (count: number, kind = "passes"): Promise<ReadonlyArray<number>> => {
  const rows = await cabinet.run(`
    WITH made AS (
      INSERT INTO cabinet.address (url, secret, every_source, filters)
      SELECT 'https://example.com/' || n, 'whsec_', false, '[{"fc":"kind","fo":"eq","fv":"${kind}"}]'::json
      FROM generate_series(1, ${count}) n RETURNING id
    ), subscribed AS (INSERT INTO cabinet.address_source (address_id, source_id) SELECT id, ${source} FROM made)
    SELECT id::int AS id FROM made ORDER BY id`)
  return rows.map(({ id }) => id as number)
}

/** Events that are spam, so that none is delivered until it is taken out. */
const spam = async (count: number, kind = "passes"): Promise<ReadonlyArray<number>> => {
  const events = await cabinet.accept(source, count, JSON.stringify({ kind }))
  await cabinet.run(`DELETE FROM cabinet.delivery`)
  await cabinet.run(`UPDATE cabinet.event SET spam = 'honeypot' WHERE id IN (${events.join(", ")})`)
  return events
}

const takeOut = (events: ReadonlyArray<number>) =>
  cabinet.runtime.runPromise(Trash.use((trash) => trash.untrash(source, events)))

const queued = async () =>
  (
    await cabinet.run(
      "SELECT event_id::int AS event, address_ids::int[] AS ids FROM cabinet.filtered_fan_out ORDER BY 1",
    )
  ).map(({ event, ids }) => [event, ids])

const deliveries = async () =>
  (
    await cabinet.run(
      "SELECT event_id || ' to ' || address_id AS pair FROM cabinet.delivery ORDER BY event_id, address_id",
    )
  ).map(({ pair }) => pair)

const write = async (rows = 10_000) => {
  await cabinet.run(
    "UPDATE cabinet.follower SET leased_until = 'epoch', not_before = 'epoch' WHERE kind = 'deliveries'",
  )
  const held = await cabinet.runtime.runPromise(FollowerStore.use((store) => store.claim("deliveries")))
  await cabinet.runtime.runPromise(FanOutStore.use((store) => store.write(Option.getOrThrow(held), rows)))
}

it("more than 1,000 deliveries to addresses without a filter are left to the follower, whatever their source does", async () => {
  const plain: Array<number> = []
  for (let n = 0; n < 2; n++) {
    plain.push((await cabinet.book((book) => book.create({ url: "https://example.com/", sources: [source] }))).id)
  }
  const expected = (events: ReadonlyArray<number>) => events.flatMap((event) => plain.map((id) => `${event} to ${id}`))
  const few = await spam(1)
  assert.strictEqual(await takeOut(few), 1)
  assert.deepEqual(await deliveries(), expected(few))
  const many = await spam(501)
  await takeOut(many)
  assert.deepEqual(await deliveries(), [])
  while ((await cabinet.run("SELECT FROM cabinet.fan_out LIMIT 1")).length > 0) await write()
  assert.deepEqual(await deliveries(), expected(many))
})

it("an event that passes more than 100 filters leaves them to the follower, which writes each once", async () => {
  const many = await add(101)
  const plain = (await cabinet.book((book) => book.create({ url: "https://example.com/plain", sources: [source] }))).id
  const others = await add(2, "other")
  const [event] = (await spam(1)) as [number]
  const [other] = (await spam(1, "other")) as [number]
  await takeOut([event, other])
  assert.deepEqual(await deliveries(), [`${event} to ${plain}`, `${other} to ${plain}`])
  assert.deepEqual(await queued(), [
    [event, many],
    [other, others],
  ])
  await write()
  const all = [...many, plain].map((id) => `${event} to ${id}`)
  const its = [plain, ...others].map((id) => `${other} to ${id}`)
  assert.deepEqual(await deliveries(), [...all, ...its])
  assert.deepEqual(await queued(), [])
  // What has a delivery gets no second one.
  await cabinet.run(`UPDATE cabinet.event SET spam = 'honeypot' WHERE id = ${event}`)
  await takeOut([event])
  assert.deepEqual(await queued(), [])
  assert.lengthOf(await deliveries(), all.length + its.length)
})

it("events that pass up to 100 filters, and 1,000 together, have their deliveries at once", async () => {
  const many = await add(100)
  const events = await spam(11)
  await takeOut(events.slice(0, 10))
  assert.deepEqual(await queued(), [])
  assert.lengthOf(await deliveries(), 1_000)
  await cabinet.run("UPDATE cabinet.event SET spam = 'honeypot'")
  await cabinet.run("DELETE FROM cabinet.delivery")
  // The follower still has others to write of this event.
  await cabinet.run(`INSERT INTO cabinet.filtered_fan_out VALUES (${events[0]}, now(), '{1000000}')`)
  await takeOut(events)
  assert.lengthOf(await deliveries(), 0)
  const expected = events.map((event, n) => [event, n === 0 ? [...many, 1_000_000] : many])
  assert.deepEqual(await queued(), expected)
})

/** Makes every delivery one that has been made, and queues the events as changed. */
const changeDelivered = async (events: ReadonlyArray<number>) => {
  await cabinet.run(`INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, event_id, delivery_created_at)
    SELECT id, 1, address_id, cabinet.now(), true, 1, event_id, created_at FROM cabinet.delivery`)
  await cabinet.run("DELETE FROM cabinet.delivery")
  await cabinet.run(
    `INSERT INTO cabinet.resend (event_id, at) SELECT id, cabinet.now() FROM cabinet.event WHERE id IN (${events.join(", ")})`,
  )
}

const plainAddresses = async (count: number): Promise<ReadonlyArray<number>> => {
  const ids: Array<number> = []
  for (let n = 0; n < count; n++) {
    ids.push((await cabinet.book((book) => book.create({ url: "https://example.com/", sources: [source] }))).id)
  }
  return ids
}

it("deliveries of changed events are due again once, in slices that go on where the last one ended", async () => {
  await plainAddresses(3)
  const events = await cabinet.accept(source, 2)
  const before = await deliveries()
  await changeDelivered(events)
  const sizes: Array<number> = []
  for (let n = 0; (await cabinet.run("SELECT FROM cabinet.resend")).length > 0; n++) {
    assert.isBelow(n, 9)
    await write(2)
    sizes.push((await deliveries()).length)
    // Those that were delivered again meanwhile are not due a second time.
    if (n === 0) await deliverAll()
  }
  assert.deepEqual(sizes.slice(0, 2), [2, 2])
  assert.sameMembers(await redelivered(), before.slice(0, 2))
  assert.deepEqual(await deliveries(), before.slice(2))
})

/** Delivers what is due, as a worker would. */
const deliverAll = async () => {
  await cabinet.run(`INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, event_id, delivery_created_at)
    SELECT id, attempts + 1, address_id, cabinet.now() + interval '1 s', true, 1, event_id, created_at FROM cabinet.delivery`)
  await cabinet.run("DELETE FROM cabinet.delivery")
}

const redelivered = async () =>
  (await cabinet.run("SELECT event_id || ' to ' || address_id AS pair FROM cabinet.attempt WHERE number > 1")).map(
    ({ pair }) => String(pair),
  )

it("nothing is sent again to removed addresses, of trashed events, or after the change; new deliveries come first", async () => {
  const [kept, removed] = await plainAddresses(2)
  const [changed, trashed, later] = await cabinet.accept(source, 3)
  await changeDelivered([changed!, trashed!, later!])
  await cabinet.run(`UPDATE cabinet.address SET removed_at = cabinet.now() WHERE id = ${removed}`)
  await cabinet.runtime.runPromise(Trash.use((trash) => trash.trash(source, [trashed!])))
  await cabinet.run(`UPDATE cabinet.resend SET at = at - interval '1 hour' WHERE event_id = ${later}`)
  await cabinet.run(
    `INSERT INTO cabinet.fan_out (as_of, event_id, source_id, at) SELECT id, id, source_id, received_at FROM cabinet.event WHERE id = ${later}`,
  )
  await write(1)
  assert.deepEqual(await deliveries(), [`${changed} to ${kept}`, `${later} to ${kept}`])
  while ((await cabinet.run("SELECT FROM cabinet.resend UNION ALL SELECT FROM cabinet.fan_out")).length > 0) {
    await write(1)
  }
  assert.deepEqual(await deliveries(), [`${changed} to ${kept}`, `${later} to ${kept}`])
})

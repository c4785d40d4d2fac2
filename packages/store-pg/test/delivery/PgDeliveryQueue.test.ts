import { CLAIM, NEXT_DUE, roomParameters } from "@data-cabinet/store-pg/delivery/ClaimStatement"
import type { Claimed } from "@data-cabinet/core/delivery/DeliveryQueue"
import { WHY_NOT_RESENT } from "@data-cabinet/store-pg/delivery/DeliveryStatement"
import { SETTLE } from "@data-cabinet/store-pg/delivery/SettleStatement"
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished } from "vitest"
import { stopClock } from "../../../../test/support/stoppedClock.ts"
import { claimOf, type DeliveryCabinet, openDeliveryCabinet, settlementOf } from "./deliveryCabinet.ts"

let cabinet: DeliveryCabinet
let source: number
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
})
afterAll(() => cabinet?.close())
beforeEach(async () => {
  source = await cabinet.begin()
})

const address = (url = "https://example.com/hook") => cabinet.book((book) => book.create({ url, sources: "all" }))
const claim = (change = {}) => cabinet.queue((queue) => queue.claim(claimOf(change)))
const settle = (...batch: ReadonlyArray<ReturnType<typeof settlementOf>>) =>
  cabinet.queue((queue) => queue.settle(batch))
const log = (addressId: number) => cabinet.queue((queue) => queue.log({ addressId, limit: 100 }))

const textOf = ({ event }: Claimed) => new TextDecoder().decode(event!.json)

it("claim returns all that one attempt needs, with the event as the feed shows it", async () => {
  const { id, secret } = await address()
  const [event] = await cabinet.accept(source, 1, `{"z":1.0,"a":12345678901234567890,"я":"\\u00e9"}`)
  const [delivery] = await claim()
  expect(delivery).toMatchObject({
    type: "event.received",
    recipient: { addressId: id, secrets: [secret] },
    attempt: 1,
    failures: 0,
  })
  expect(delivery!.createdAt).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/)
  expect(textOf(delivery!)).toContain(`"payload":{"z":1.0,"a":12345678901234567890,"я":"\\u00e9"}`)
  expect(JSON.parse(textOf(delivery!))).toMatchObject({ id: event, source: { id: source, name: "Orders" } })
})

it("deliveries of one claim have their own address, and those of the same address share it", async () => {
  const [one, two] = [await address(), await address()]
  await cabinet.accept(source, 2)
  const claimed = await claim()
  for (const { id, url, secret } of [one, two]) {
    const recipients = claimed.map(({ recipient }) => recipient).filter(({ addressId }) => addressId === id)
    expect(recipients).toHaveLength(2)
    expect(recipients[0]).toMatchObject({ url, secrets: [secret] })
    expect(recipients[1]).toBe(recipients[0])
  }
})

it("claim writes exactly the text that the database would write for an event in any state", async () => {
  await address()
  const events = await cabinet.accept(source, 7, `{"a" : 1.0,"b":["я"]}`)
  for (const [n, change] of [
    "repeat_of = 1",
    "history = true, channel = 'file'",
    "received_at = '2026-11-22 01:02:03.45Z', channel = 'pull'",
    "received_at = '2026-11-22 01:02:03Z', repeat_of = 9007199254740991, history = true",
    `payload = json_build_object('long', repeat('я', 40000)), verified = true`,
    "verified = false",
  ].entries()) {
    await cabinet.run(`UPDATE cabinet.event SET ${change} WHERE id = ${events[n]}`)
  }
  await cabinet.run(`UPDATE cabinet.source SET name = E'A "name"\\n\\x01я' WHERE id = ${source}`)
  await cabinet.run("UPDATE cabinet.delivery SET created_at = created_at + interval '1 microsecond' * (id % 3)")
  const claimed = await claim()
  const expected = await cabinet.run(
    `SELECT d.id::int4 AS id, cabinet.event_json(e, s.name) AS event, cabinet.rfc3339(d.created_at) AS created_at
     FROM cabinet.delivery d JOIN cabinet.event e ON e.id = d.event_id JOIN cabinet.source s ON s.id = e.source_id`,
  )
  expect(claimed).toHaveLength(7)
  for (const one of claimed) {
    const { event, created_at } = expected.find(({ id }) => id === one.id)!
    expect([textOf(one), one.createdAt]).toEqual([event, created_at])
  }
})

it("claim gives a delivery to one worker only, and again when its lease expires, with the lost attempt logged", async () => {
  const { id } = await address()
  await cabinet.accept(source, 20)
  const [one, two] = await Promise.all([claim({ limit: 20 }), claim({ limit: 20 })])
  expect(new Set([...one, ...two].map((delivery) => delivery.id)).size).toBe(20)
  expect(await claim()).toEqual([])
  await cabinet.pass("61 seconds")
  const again = await claim()
  expect(again).toHaveLength(20)
  expect(again[0]!.attempt).toBe(2)
  const lost = await log(id)
  expect(lost).toHaveLength(20)
  expect(lost[0]).toMatchObject({ number: 1, delivered: false, status: null })
  expect(lost[0]!.failure).toContain("the worker ended")
})

it("release returns deliveries as they were, unlogged, but not those whose lease was taken over", async () => {
  const { id } = await address()
  await cabinet.accept(source, 2)
  const release = (...batch: ReadonlyArray<{ id: number; attempt: number }>) =>
    cabinet.queue((queue) => queue.release(batch))
  const first = await claim()
  await release(first[0]!)
  const again = await claim()
  expect(again).toMatchObject([{ id: first[0]!.id, attempt: 2, failures: 0 }])
  await release(first[0]!)
  expect(await claim()).toEqual([])
  expect(await cabinet.queue((queue) => queue.nextDue(claimOf()))).toBeNull()
  await release(again[0]!, first[1]!)
  expect(await cabinet.queue((queue) => queue.nextDue(claimOf()))).toBe(0)
  expect(await log(id)).toEqual([])
  expect(await claim()).toHaveLength(2)
})

it("settle does nothing for a lease that was taken over", async () => {
  const { id } = await address()
  await cabinet.accept(source)
  const [first] = await claim()
  await cabinet.pass("61 seconds")
  const [second] = await claim()
  await settle(settlementOf(first!, 500))
  expect(await log(id)).toHaveLength(1)
  await settle(settlementOf(second!, 204))
  expect((await log(id)).map((attempt) => [attempt.number, attempt.delivered])).toEqual([
    [2, true],
    [1, false],
  ])
  await settle(settlementOf(second!, 500))
  expect(await log(id)).toHaveLength(2)
})

it("settle stores the retry interval of a failed attempt and logs the attempt", async () => {
  const { id } = await address()
  const [event] = await cabinet.accept(source)
  const [delivery] = await claim()
  await settle(settlementOf(delivery!, 503, 30))
  const [attempt] = await log(id)
  expect(attempt).toMatchObject({
    deliveryId: delivery!.id,
    eventId: event,
    number: 1,
    status: 503,
    delivered: false,
    durationMs: 12,
    timing: { nameMs: 1, connectMs: 2, tlsMs: null, waitMs: 8, bodyMs: 1 },
    peer: "203.0.113.9",
    responseBody: "ok",
  })
  expect(Math.round((Date.parse(attempt!.nextAt!) - Date.parse(attempt!.at)) / 1000)).toBe(30)
  await cabinet.pass("15 seconds")
  expect(await claim({ lane: "failing" })).toEqual([])
  await cabinet.pass("16 seconds")
  expect(await claim({ lane: "failing" })).toMatchObject([{ id: delivery!.id, attempt: 2, failures: 1 }])
})

it("settle accepts negative and years-long durations of a clock that was changed, with the rest of their batch", async () => {
  const ids = [(await address()).id, (await address()).id, (await address()).id]
  await cabinet.accept(source)
  const settled = (await claim()).map((delivery) => settlementOf(delivery, 200))
  expect(settled).toHaveLength(3)
  const lasting = (at: number, durationMs: number) => ({
    ...settled[at]!,
    outcome: { ...settled[at]!.outcome, durationMs },
  })
  await settle(lasting(0, -3e9), settled[1]!, lasting(2, 3e9))
  const logged = await Promise.all(ids.map(log))
  const lasted = new Map(logged.flat().map((attempt) => [attempt.deliveryId, attempt.durationMs]))
  expect(settled.map(({ deliveryId }) => lasted.get(deliveryId))).toEqual([0, 12, 2 ** 31 - 1])
})

it("claim serves addresses in turn and respects the limit of each", async () => {
  const ids = [(await address()).id, (await address()).id, (await address()).id]
  await cabinet.accept(source, 50)
  const count = (batch: ReadonlyArray<Claimed>) =>
    ids.map((id) => batch.filter((d) => d.recipient.addressId === id).length)
  expect(count(await claim({ limit: 9, perAddress: 3 }))).toEqual([3, 3, 3])
  expect(count(await claim({ limit: 4, perAddress: 3, after: ids[0]! }))).toEqual([0, 3, 1])
  expect(
    count(
      await claim({
        perAddress: 3,
        room: new Map([
          [ids[1]!, 2],
          [ids[2]! + 1, 9],
          [ids[0]!, 0],
        ]),
      }),
    ),
  ).toEqual([0, 2, 3])
})

it("an address moves to the failing lane with a failure and back with a delivery", async () => {
  const { id } = await address()
  await cabinet.accept(source, 3)
  const [one, two] = await claim({ limit: 2 })
  await settle(settlementOf(one!, null))
  expect((await cabinet.book((book) => book.get(id))).failingSince).not.toBeNull()
  expect(await claim()).toEqual([])
  expect(await claim({ lane: "failing" })).toHaveLength(1)
  await settle(settlementOf(two!, 200))
  expect((await cabinet.book((book) => book.get(id))).failingSince).toBeNull()
})

it("an address that responds moves to the failing lane only once it has failed for a while", async () => {
  const { id } = await address()
  await cabinet.accept(source, 4)
  const [one, two, three] = await claim({ limit: 3 })
  await settle(settlementOf(one!, 500))
  expect((await cabinet.book((book) => book.get(id))).failingSince).not.toBeNull()
  expect(await claim({ lane: "failing" })).toEqual([])
  await cabinet.pass("11 seconds")
  expect(await claim()).toEqual([])
  await settle(settlementOf(two!, 200))
  // A late response finds a healthy address; a timeout after that moves the address at once.
  await settle(settlementOf(three!, null))
  expect(await claim()).toEqual([])
  expect(await claim({ lane: "failing" })).toHaveLength(1)
})

it("a deleted event cancels its deliveries, also those in flight unless they arrive", async () => {
  const { id } = await address()
  const events = await cabinet.accept(source, 3)
  const [one, two] = await claim({ limit: 2 })
  await cabinet.run("UPDATE cabinet.event SET deleted_at = cabinet.now()")
  expect(await claim()).toEqual([])
  await settle(settlementOf(one!, 500), settlementOf(two!, 200))
  const states = await Promise.all(events.map((event) => cabinet.queue((queue) => queue.ofEvent(event))))
  expect(states.flat().map((delivery) => delivery.state)).toEqual(["cancelled", "delivered", "cancelled"])
  expect((await log(id)).find((attempt) => attempt.deliveryId === one!.id)!.nextAt).toBeNull()
  await cabinet.pass("1 day")
  expect(await claim({ lane: "failing" })).toEqual([])
})

it("pause holds deliveries, resume continues them, remove cancels them", async () => {
  const { id } = await address()
  await cabinet.accept(source, 2)
  await cabinet.book((book) => book.pause(id))
  expect(await claim()).toEqual([])
  expect(await cabinet.queue((queue) => queue.nextDue(claimOf()))).toBeNull()
  await cabinet.book((book) => book.resume(id))
  expect(await claim({ limit: 1 })).toHaveLength(1)
  await cabinet.book((book) => book.remove(id))
  expect(await claim()).toEqual([])
  expect(await cabinet.run("SELECT DISTINCT state FROM cabinet.delivery")).toEqual([{ state: "cancelled" }])
})

it("a ping is logged and not repeated, and a lost one fails", async () => {
  const { id } = await address()
  const ping = await cabinet.ping(id)
  expect(ping).toMatchObject({ type: "ping", event: null, attempt: 1, recipient: { addressId: id } })
  const failed = { ...settlementOf(ping, 500), next: { state: "failed" } as const }
  await settle(failed)
  expect(await log(id)).toMatchObject([{ type: "ping", eventId: null, status: 500, nextAt: null }])
  await cabinet.ping(id)
  await cabinet.pass("2 days")
  expect(await claim()).toEqual([])
  expect(await cabinet.run("SELECT DISTINCT state FROM cabinet.delivery")).toEqual([{ state: "failed" }])
  expect((await cabinet.book((book) => book.get(id))).failingSince).toBeNull()
})

it("resend makes one delivery or a range due again, cancel ends one", async () => {
  const { id } = await address()
  await cabinet.accept(source, 3)
  const batch = await claim()
  await settle(...batch.map((delivery) => settlementOf(delivery, 200)))
  expect(await cabinet.deliveries((all) => all.resend(batch[0]!.id))).toMatchObject({ state: "due", attempts: 1 })
  expect(await claim()).toMatchObject([{ id: batch[0]!.id, attempt: 2, failures: 0 }])
  const day = 86_400_000
  const [from, to] = [new Date(Date.now() - day).toISOString(), new Date(Date.now() + day).toISOString()]
  for (const end of [to, from]) {
    await expect(
      cabinet.deliveries((all) => all.resendRange({ addressId: id, from: to, to: end, only: "all" })),
    ).rejects.toMatchObject({ code: "bad_range", message: "The range is empty: it must end after it begins." })
  }
  expect(await cabinet.deliveries((all) => all.resendRange({ addressId: id, from, to, only: "all" }))).toBe(2)
  expect(await cabinet.deliveries((all) => all.cancel(batch[1]!.id))).toMatchObject({ state: "cancelled", dueAt: null })
  expect(await claim()).toMatchObject([{ id: batch[2]!.id }])
  for (const none of ["yesterday", "2026-02-30T00:00:00Z", "2026-11-21T09:30:00+23:00"]) {
    const refused = { code: "bad_range", message: `${none} is not a time with its zone, such as 2026-11-21T09:30:00Z.` }
    await expect(
      cabinet.deliveries((all) => all.resendRange({ addressId: id, from: none, to, only: "all" })),
    ).rejects.toMatchObject(refused)
    await expect(cabinet.deliveries((all) => all.log({ addressId: id, limit: 1, before: none }))).rejects.toMatchObject(
      refused,
    )
  }
  // PostgreSQL accepts every timestamp that we accept.
  const first = "0001-01-01T00:00:00.1-15:59"
  expect(
    await cabinet.deliveries((all) =>
      all.resendRange({ addressId: id, from: first, to: "2024-02-29T23:59:59.999999999+15:59", only: "all" }),
    ),
  ).toBe(0)
  await expect(cabinet.deliveries((all) => all.resend(999_999))).rejects.toMatchObject({ code: "no_such_delivery" })
})

it("the log is paged backwards without gaps, even across attempts that began at one time", async () => {
  const { id } = await address()
  await cabinet.accept(source, 7)
  const batch = await claim()
  await settle(...batch.map((delivery) => settlementOf(delivery, 200)))
  const whole = await log(id)
  expect(new Set(whole.map(({ at }) => at)).size).toBe(1)
  const paged: Array<(typeof whole)[number]> = []
  for (;;) {
    const last = paged.at(-1)
    const position = last === undefined ? {} : { before: last.at, beforeDelivery: last.deliveryId }
    const page = await cabinet.deliveries((all) => all.log({ addressId: id, limit: 2, ...position }))
    if (page.length === 0) break
    paged.push(...page)
  }
  expect(paged).toEqual(whole)
  expect(new Set(paged.map(({ deliveryId }) => deliveryId))).toEqual(new Set(batch.map((delivery) => delivery.id)))
  // A time alone leaves out attempts that began at that time.
  expect(await cabinet.deliveries((all) => all.log({ addressId: id, limit: 9, before: whole[0]!.at }))).toEqual([])
})

it("the log of an unknown address is an error, and a removed address keeps its log", async () => {
  const { id } = await address()
  await cabinet.accept(source, 1)
  await settle(settlementOf((await claim())[0]!, 200))
  await cabinet.book((book) => book.remove(id))
  expect(await cabinet.deliveries((all) => all.log({ addressId: id, limit: 9 }))).toHaveLength(1)
  await expect(cabinet.deliveries((all) => all.log({ addressId: 999_999, limit: 9 }))).rejects.toMatchObject({
    code: "no_such_address",
  })
})

it("resend of a delivery that was cancelled in flight lets that attempt end, and counts it", async () => {
  const { id } = await address()
  await cabinet.accept(source, 3)
  const [taken, missed, lost] = await claim()
  const resend = {
    one: (delivery: number) => cabinet.deliveries((all) => all.resend(delivery)),
    all: () =>
      cabinet.deliveries((all) =>
        all.resendRange({ addressId: id, from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z", only: "all" }),
      ),
  }
  for (const delivery of [taken!, missed!, lost!]) await cabinet.deliveries((all) => all.cancel(delivery.id))
  expect(await resend.one(taken!.id)).toMatchObject({ state: "due", attempts: 1 })
  expect(await resend.all()).toBe(2)
  expect(await claim()).toEqual([])
  await settle(settlementOf(taken!, 204), settlementOf(missed!, 500))
  expect(Object.fromEntries((await log(id)).map((one) => [one.deliveryId, one.delivered]))).toEqual({
    [taken!.id]: true,
    [missed!.id]: false,
  })
  await cabinet.pass("61 seconds")
  const again = await claim()
  expect(Object.fromEntries(again.map((one) => [one.id, one.attempt]))).toEqual({ [missed!.id]: 2, [lost!.id]: 2 })
  expect(await log(id)).toHaveLength(3)
})

it("claim works even if an attempt was lost on a day that the log no longer has", async () => {
  const { id } = await address()
  await cabinet.accept(source)
  await claim()
  await cabinet.book((book) => book.pause(id))
  await cabinet.pass("100 days")
  await cabinet.queue((queue) => queue.prune({ deliveredDays: 30, failedDays: 90 }))
  await cabinet.book((book) => book.resume(id))
  expect(await claim()).toMatchObject([{ attempt: 2 }])
  expect(await log(id)).toEqual([])
})

it("resend refuses a delivery that cannot be resent, with the reason", async () => {
  const { id } = await address()
  const removed = await address()
  const [first, second] = await cabinet.accept(source, 2)
  const batch = await claim()
  const of = (addressId: number, event?: number) =>
    batch.find(
      (one) => one.recipient.addressId === addressId && (event === undefined || textOf(one).includes(`"id":${event},`)),
    )!
  const ping = await cabinet.ping(id)
  await settle(...[...batch, ping].map((delivery) => settlementOf(delivery, 200)))
  await cabinet.run(`UPDATE cabinet.event SET deleted_at = cabinet.now() WHERE id = ${first}`)
  await cabinet.book((book) => book.remove(removed.id))
  const refused = (delivery: number, words: string) =>
    expect(cabinet.deliveries((all) => all.resend(delivery))).rejects.toMatchObject({
      code: "not_resent",
      message: expect.stringContaining(words),
    })
  await refused(ping.id, "it is a ping")
  await refused(of(id, first).id, `its event ${first} was deleted`)
  await refused(of(removed.id, second).id, `its address ${removed.id} was removed`)
  expect(await claim()).toEqual([])
})

it("a delivery whose attempt ends while it is being resent is not mistaken for one whose event was deleted", async () => {
  await address()
  await cabinet.accept(source, 1)
  const [delivery] = await claim()
  await settle(settlementOf(delivery!, 200))
  const sql = WHY_NOT_RESENT.replace("$1", String(delivery!.id))
  expect(await cabinet.run(sql)).toEqual([{ why: null }])
  await cabinet.run(`UPDATE cabinet.event SET deleted_at = cabinet.now()`)
  expect(await cabinet.run(sql)).toEqual([{ why: "event_deleted" }])
})

it("settle keeps no response of a delivery that was cancelled in the meantime, as a purge may require", async () => {
  const { id } = await address()
  await cabinet.accept(source, 2)
  const batch = await claim()
  await cabinet.run("UPDATE cabinet.event SET deleted_at = cabinet.now()")
  await settle(settlementOf(batch[0]!, 500), settlementOf(batch[1]!, 200))
  expect((await log(id)).map(({ responseBody }) => responseBody)).toEqual([null, null])
})

it("nextDue returns the milliseconds to the first delivery of a lane", async () => {
  await address()
  expect(await cabinet.queue((queue) => queue.nextDue(claimOf()))).toBeNull()
  await cabinet.accept(source)
  expect(await cabinet.queue((queue) => queue.nextDue(claimOf()))).toBe(0)
  const [delivery] = await claim()
  await settle(settlementOf(delivery!, 500, 3600))
  const millis = await cabinet.queue((queue) => queue.nextDue(claimOf()))
  expect(millis! / 1000).toBeCloseTo(3600, -2)
})

it("settle stores a response with a zero byte, and creates a missing day's partition", async () => {
  const { id } = await address()
  await cabinet.accept(source)
  const [delivery] = await claim()
  await cabinet.run("UPDATE cabinet.clock SET shift = interval '40 days'")
  const [late] = await claim()
  const told = settlementOf(late!, 200)
  await settle({ ...told, outcome: { ...told.outcome, responseBody: "a\u0000b\ud800" } })
  expect((await log(id))[0]).toMatchObject({ deliveryId: delivery!.id, responseBody: "a\ufffdb\ufffd" })
})

it("gauge counts due, overdue and waiting deliveries", async () => {
  const { id } = await address()
  await cabinet.accept(source, 3)
  await cabinet.pass("3 minutes")
  expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({
    due: 3,
    stuck: 3,
    retrying: 0,
    failingAddresses: 0,
  })
  await settle(...(await claim()).map((delivery) => settlementOf(delivery, 500)))
  expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({
    due: 0,
    stuck: 0,
    retrying: 3,
    failingAddresses: 1,
  })
  await cabinet.book((book) => book.pause(id))
  expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({ paused: 3, retrying: 0 })
})

it("prune deletes delivered attempts after 30 days, failed ones after 90, and then the deliveries", async () => {
  const { id } = await address()
  await cabinet.accept(source, 2)
  const [one, two] = await claim()
  await settle(settlementOf(one!, 200), { ...settlementOf(two!, 500), next: { state: "failed" } })
  const prune = () => cabinet.queue((queue) => queue.prune({ deliveredDays: 30, failedDays: 90 }))
  await cabinet.pass("29 days")
  await prune()
  expect(await log(id)).toHaveLength(2)
  await cabinet.pass("3 days")
  await prune()
  expect((await log(id)).map((attempt) => attempt.status)).toEqual([500])
  await cabinet.pass("60 days")
  expect((await prune()).deliveries).toBe(1)
  expect(await cabinet.run("SELECT count(*)::int AS n FROM cabinet.attempt")).toEqual([{ n: 0 }])
})

it("claim and settle find every row by its key, even if they were planned when the tables were tiny", async () => {
  await address()
  await cabinet.accept(source, 5)
  await cabinet.run("VACUUM ANALYZE cabinet.delivery, cabinet.event, cabinet.source, cabinet.address")
  const plans = [
    await cabinet.plan(CLAIM, [...roomParameters(claimOf()), 0, 100, 60]),
    await cabinet.plan(SETTLE, ["[]"]),
  ]
  for (const plan of plans) {
    expect(plan).toContain("Index Scan using delivery_pkey on delivery")
    expect(plan).not.toMatch(/(Seq Scan|Hash Join|Merge Join).* on (delivery|event)\b/)
  }
})

it("a claim looks at no address without a due delivery, and begins behind the one of the last claim", async () => {
  const ids: Array<number> = []
  for (let n = 0; n < 6; n++)
    ids.push((await cabinet.book((book) => book.create({ url: "https://example.com/idle", sources: [] }))).id)
  const busy = [ids[1]!, ids[4]!]
  for (const id of busy) await cabinet.book((book) => book.set(id, { sources: [source] }))
  await cabinet.accept(source, 2)
  const parameters = [...roomParameters(claimOf({ perAddress: 1 })), busy[0]!, 100, 60]
  const plan = await cabinet.plan(`(ANALYZE, TIMING OFF, COSTS OFF) ${CLAIM}`, parameters)
  const looks = [...plan.matchAll(/ on address a .*loops=(\d+)/g)].map(([, loops]) => Number(loops))
  expect(looks).toEqual([busy.length])
  const claimed = await claim({ perAddress: 1, after: busy[0]! })
  expect(claimed.map(({ recipient }) => recipient.addressId)).toEqual([busy[1], busy[0]])
})

// Then PostgreSQL keeps the generic plan whatever the statistics are: a custom one costs as much, and its planning besides.
it("claim, settle and next due are planned without knowing their parameters, and so planned once", async () => {
  await cabinet.run(
    `INSERT INTO cabinet.address (url, secret, every_source)
     SELECT 'https://example.com/' || n, '\\x00', true FROM generate_series(1, 100) n`,
  )
  await cabinet.accept(source, 2)
  await cabinet.run("ANALYZE cabinet.address, cabinet.delivery")
  const rooms = ["'{1,2}'", "'{0,5}'", "100", "false"]
  for (const [statement, parameters] of [
    [CLAIM, [...rooms, "0", "100", "60"]],
    [NEXT_DUE, rooms],
    [SETTLE, [`'[{"id":1,"attempt":1}]'`]],
  ] as const) {
    const [custom, generic] = await cabinet.plans(statement, parameters)
    expect(custom).toBe(generic)
  }
})

it("a claim changes no indexed column", async () => {
  const held = await cabinet.run(`
    SELECT DISTINCT a.attname AS name FROM pg_index i JOIN pg_depend d ON d.classid = 'pg_class'::regclass
      AND d.objid = i.indexrelid AND d.refobjid = i.indrelid AND d.refobjsubid > 0
    JOIN pg_attribute a ON a.attrelid = i.indrelid AND a.attnum = d.refobjsubid
    WHERE i.indrelid = 'cabinet.delivery'::regclass`)
  expect(held.map(({ name }) => name)).toEqual(expect.arrayContaining(["address_id", "due_at", "event_id", "state"]))
  for (const changed of ["attempts", "claimed_at", "leased_until"]) expect(held).not.toContainEqual({ name: changed })
})

it("claims for an address with a rate take its next times, and only as many as come soon", async () => {
  const runAgain = await stopClock(cabinet.run)
  onTestFinished(async () => void (await runAgain()))
  const { id } = await cabinet.book((book) =>
    book.create({
      url: "https://example.com/slow",
      sources: "all",
      rate: 10,
      headers: [["X-Key", "k"]],
      timeoutSeconds: 4,
    }),
  )
  await cabinet.accept(source, 50)
  const [first, second] = await Promise.all([claim({ limit: 4 }), claim({ limit: 4 })])
  const claims = [first, second, await claim()]
  // The times of the next half second, whichever claim took them, a tenth of a second apart.
  expect(claims.flat()).toHaveLength(6)
  for (const times of claims) {
    const [begin] = times
    const apart = times.map(({ notBeforeMillis }) => Math.round(notBeforeMillis! - begin!.notBeforeMillis!))
    expect(apart).toEqual(times.map((_, n) => 100 * n))
  }
  const [next] = await cabinet.run(
    "SELECT round(1000 * extract(epoch FROM next_at - cabinet.now()))::int AS millis FROM cabinet.address_pace",
  )
  expect(next).toEqual({ millis: 600 })
  expect(first[0] ?? second[0]).toMatchObject({
    recipient: { addressId: id, timeoutSeconds: 4, headers: [["X-Key", "k"]] },
  })
  const due = await cabinet.queue((queue) => queue.nextDue(claimOf()))
  expect(Math.round(due!)).toBe(100)
  // A clock that was set back holds nothing up, and long waits do not get stuck while others have their times.
  await cabinet.run("UPDATE cabinet.address_pace SET next_at = next_at + interval '1 day'")
  expect((await claim()).length).toBeGreaterThan(0)
  await cabinet.run("UPDATE cabinet.delivery SET due_at = due_at - interval '1 hour'")
  const gauge = () => cabinet.queue((queue) => queue.gauge)
  expect(await gauge()).toMatchObject({ stuck: 0 })
  await cabinet.run("UPDATE cabinet.address_pace SET next_at = next_at - interval '1 hour'")
  // Some are in flight, so it takes fewer than it should.
  const late = await gauge()
  expect(late).toMatchObject({ stuck: 0, behindAddresses: [id] })
  expect(late.behind).toBeGreaterThan(0)
})

/** Claims due deliveries of failing and healthy addresses, and settles all with this status. */
const attemptAll = async (status: number) => {
  const claimed = [...(await claim()), ...(await claim({ lane: "failing" }))]
  await settle(...claimed.map((one) => settlementOf(one, status)))
  return claimed.length
}

it("an address that has failed for too long is paused with a reason, and its deliveries stay", async () => {
  const url = "https://example.com/hook"
  const made = await cabinet.book((book) => book.create({ url, sources: "all", giveUpAfterSeconds: 7 * 86_400 }))
  const patient = await address("https://example.com/patient")
  const get = (id: number) => cabinet.book((book) => book.get(id))
  await cabinet.accept(source, 2)
  expect(await attemptAll(500)).toBe(4)
  await cabinet.pass("6 days 23 hours")
  expect(await attemptAll(500)).toBe(4)
  expect(await get(made.id)).toMatchObject({ pausedAt: null, pausedBecause: null })
  await cabinet.pass("1 hour")
  expect(await attemptAll(500)).toBe(4)
  const { pausedAt, failingSince, ...paused } = await get(made.id)
  expect(paused).toMatchObject({ pausedBecause: "failing", giveUpAfterSeconds: 604_800 })
  expect(Date.parse(pausedAt!) - Date.parse(failingSince!)).toBeGreaterThanOrEqual(7 * 86_400_000)
  expect(await get(patient.id)).toMatchObject({ pausedAt: null, pausedBecause: null })
  await cabinet.pass("1 day")
  await cabinet.accept(source, 1)
  // Three wait for each address; those of the paused one are not claimed.
  expect(await attemptAll(500)).toBe(3)
  expect(await cabinet.queue((queue) => queue.gauge)).toMatchObject({ paused: 3, stuck: 0 })
  // Once resumed, it has its full time again, and gets all waiting deliveries.
  const resumed = await cabinet.book((book) => book.resume(made.id))
  expect(resumed).toMatchObject({ pausedAt: null, pausedBecause: null, failingSince: null })
  await cabinet.pass("1 hour")
  expect(await attemptAll(500)).toBe(6)
  expect(await get(made.id)).toMatchObject({ pausedAt: null })
  await cabinet.pass("1 hour")
  expect(await attemptAll(204)).toBe(6)
  expect(await get(made.id)).toMatchObject({ pausedAt: null, failingSince: null })
})

it("a delivered attempt ends a failure, and an address paused by a person keeps that reason", async () => {
  const url = "https://example.com/hook"
  const { id } = await cabinet.book((book) => book.create({ url, sources: "all", giveUpAfterSeconds: 3_600 }))
  const get = () => cabinet.book((book) => book.get(id))
  await cabinet.accept(source, 2)
  const [one, other] = await claim()
  await settle(settlementOf(one!, 500))
  await cabinet.pass("2 hours")
  await settle(settlementOf(other!, 204))
  expect(await attemptAll(500)).toBe(1)
  expect(await get()).toMatchObject({ pausedAt: null })
  await cabinet.pass("30 minutes")
  const [again] = await claim({ lane: "failing" })
  await cabinet.book((book) => book.pause(id))
  await cabinet.pass("2 hours")
  await settle(settlementOf(again!, 500))
  expect(await get()).toMatchObject({ pausedBecause: null, pausedAt: expect.any(String) })
  const failing = (await get()).failingSince
  expect(await cabinet.book((book) => book.resume(id))).toMatchObject({ failingSince: failing })
})

it("a 410 pauses at once an address with that setting, and no other; a 410 to a ping pauses none", async () => {
  const url = "https://example.com/hook"
  const wants = await cabinet.book((book) => book.create({ url, sources: "all", pauseOnGone: true }))
  const other = await address("https://example.com/other")
  const ping = await cabinet.ping(wants.id)
  await settle({ ...settlementOf(ping, 410), next: { state: "failed" } })
  expect(await cabinet.book((book) => book.get(wants.id))).toMatchObject({ pausedAt: null })
  await cabinet.accept(source, 1)
  expect(await attemptAll(410)).toBe(2)
  expect(await cabinet.book((book) => book.get(wants.id))).toMatchObject({ pausedBecause: "gone", pauseOnGone: true })
  expect(await cabinet.book((book) => book.get(other.id))).toMatchObject({ pausedAt: null })
  const [delivery] = await cabinet.run(
    `SELECT state FROM cabinet.delivery WHERE address_id = ${wants.id} AND type <> 'ping'`,
  )
  expect(delivery).toEqual({ state: "due" })
})

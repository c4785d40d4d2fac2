/**
 * Deliveries in order while their processes are killed, stopped for longer than a lease, and lose their connections: proved
 * by each receiver's log. `ORDERED_ROUNDS` runs more rounds, and `ORDERED_ADDRESSES` more addresses.
 */
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"
import { sendingLayer } from "./deliveryLayers.ts"
import { openReceiver } from "./deliveryReceiver.ts"
import { checkLog, DISTURBANCES, OrderedWorkers } from "./orderedRounds.ts"

const ROUNDS = Number(process.env["ORDERED_ROUNDS"] ?? 3)
const ADDRESSES = Number(process.env["ORDERED_ADDRESSES"] ?? 6)
/** Every fifth address refuses some events at first. */
const FAILING = 5
/** How often a long run says how far it is. */
const REPORTED_ROUNDS = 50
/** An address that has got nothing new for so long is stuck, however slow the machine is. */
const STALLED_MILLIS = 120_000
const EVENTS_A_ROUND = 20
/** Events that are sent again when a process is killed. */
const RESENT = 20
const WAIT = { timeout: 120_000 }

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let workers: OrderedWorkers
beforeAll(() => {
  cabinet = testCabinet(database.url, { override: sendingLayer() })
  workers = new OrderedWorkers(database.url)
})
afterAll(async () => {
  await workers.close()
  await cabinet.dispose()
})

const eventsOf = (body: Buffer): ReadonlyArray<number> => {
  const message = JSON.parse(String(body)) as {
    readonly data?: { readonly id: number }
    readonly events?: ReadonlyArray<{ readonly data: { readonly id: number } }>
  }
  return message.data === undefined ? message.events!.map(({ data }) => data.id) : [message.data.id]
}

const openAddress = async (sourceId: number, index: number) => {
  const tried = new Set<number>()
  const log: Array<number> = []
  const isFailing = index % FAILING === 0
  const answer = ({ body }: { readonly body: Buffer }) => {
    const events = eventsOf(body)
    const refused = isFailing ? events.find((id) => id % 7 === 0 && !tried.has(id)) : undefined
    if (refused === undefined) log.push(...events)
    else tried.add(refused)
    return refused === undefined ? 200 : 500
  }
  const receiver = await openReceiver(answer)
  const batch = index % 2 === 0 ? { max: 1, wait: 0 } : { max: 10, wait: 0 }
  const address = { url: receiver.url, sources: [sourceId], order: "feed", batch } as const
  await cabinet.runPromise(Addresses.use((addresses) => addresses.create(address)))
  return { log, close: receiver.close }
}

const RETRY_NOW = "UPDATE cabinet.follower SET not_before = cabinet.now() WHERE failures > 0"

const loseConnections = () =>
  database.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()",
  )

it(
  `addresses in order get every event in order through ${ROUNDS} kills, stops and lost connections of their processes`,
  async () => {
    const { id: sourceId } = await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Rounds" })))
    const receivers = await Promise.all(Array.from({ length: ADDRESSES }, (_, index) => openAddress(sourceId, index)))
    await workers.start(3)
    const accept = async (round: number) => {
      for (let n = 0; n < EVENTS_A_ROUND; n++) {
        await vi.waitFor(
          () =>
            cabinet.runPromise(EventLog.use((log) => appendEvents(log, requestOf(sourceId, `${round} ${n}`, false)))),
          { timeout: 120_000 },
        )
      }
    }
    // Failed events are repeated at once, also while processes are disturbed: otherwise an address that refuses falls behind.
    let isRetrying = true
    const retrying = (async () => {
      while (isRetrying) {
        await database.run(RETRY_NOW).catch(() => undefined)
        await new Promise((done) => setTimeout(done, 250))
      }
    })()
    for (let round = 0; round < ROUNDS; round++) {
      const accepting = accept(round)
      await workers.disturb(DISTURBANCES[round % DISTURBANCES.length]!, round, loseConnections)
      await accepting
      if ((round + 1) % REPORTED_ROUNDS === 0) {
        const counts = receivers.map(({ log }) => log.length)
        process.stdout.write(`${round + 1} rounds; events of each address: ${counts.join(" ")}\n`)
      }
    }
    const accepted = await database.run("SELECT id::int AS id FROM cabinet.event ORDER BY epoch, xid, id")
    const expected = accepted.map(({ id }) => Number(id))
    const checked = () => receivers.map(({ log }) => checkLog(log, expected))
    let faults = checked()
    for (let left = Infinity, since = Date.now(); left > 0 && Date.now() - since < STALLED_MILLIS;) {
      await new Promise((done) => setTimeout(done, 300))
      faults = checked()
      const now = faults.reduce((sum, { missing }) => sum + missing.length, 0)
      if (now < left) since = Date.now()
      left = now
    }
    isRetrying = false
    await retrying
    if (ROUNDS >= REPORTED_ROUNDS) {
      const all = faults.map(({ returns, missing }) => `${returns}/${missing.length}`)
      process.stdout.write(`${expected.length} events; returns/missing of each address: ${all.join(" ")}\n`)
    }
    for (const { missing, early, returns } of faults) {
      expect(early).toEqual([])
      expect(missing).toEqual([])
      expect(returns).toBeLessThanOrEqual(ROUNDS)
    }
    await workers.close()
    await Promise.all(receivers.map((one) => one.close()))
  },
  1_200_000 + ROUNDS * 20_000,
)

it("events sent again beside the order come through a kill, and leave the order as it is", async () => {
  const { id: sourceId } = await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Again" })))
  const again = new Set<number>()
  const log: Array<number> = []
  let hangs = true
  const receiver = await openReceiver(({ body }) => {
    const [event] = eventsOf(body)
    if (hangs && again.has(event!)) return "hang"
    log.push(event!)
    return 200
  })
  const { id: addressId } = await cabinet.runPromise(
    Addresses.use((addresses) => addresses.create({ url: receiver.url, sources: [sourceId], order: "feed" })),
  )
  const accept = async (name: string) => {
    for (let n = 0; n < RESENT; n++)
      await cabinet.runPromise(EventLog.use((all) => appendEvents(all, requestOf(sourceId, `${name} ${n}`, false))))
  }
  await workers.start(1)
  await accept("first")
  const range = { addressId, from: "2020-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z", only: "all" } as const
  // What a page has delivered is counted once its position is saved.
  await expect.poll(() => cabinet.runPromise(Deliveries.use((all) => all.countRange(range))), WAIT).toBe(RESENT)
  for (const id of log.splice(0)) again.add(id)
  await cabinet.runPromise(Deliveries.use((all) => all.resendRange(range)))
  // A few requests at first: the others are due and not claimed when the process is killed.
  await receiver.received(RESENT + 1)
  await Promise.all([accept("later"), workers.close()])
  hangs = false
  await database.run("UPDATE cabinet.clock SET shift = shift + interval '1 minute'")
  await workers.start(1)
  const accepted = await database.run(
    `SELECT id::int AS id FROM cabinet.event WHERE source_id = ${sourceId} ORDER BY epoch, xid, id`,
  )
  const later = accepted.map(({ id }) => Number(id)).filter((id) => !again.has(id))
  const inOrder = () =>
    checkLog(
      log.filter((id) => !again.has(id)),
      later,
    )
  await expect.poll(() => inOrder().missing, WAIT).toEqual([])
  expect(inOrder().early).toEqual([])
  await expect.poll(() => [...again].filter((id) => !log.includes(id)), WAIT).toEqual([])
  await workers.close()
  await receiver.close()
}, 150_000)

it("checkLog finds a gap, an early event and a return", () => {
  expect(checkLog([1, 2, 2, 3], [1, 2, 3])).toEqual({ missing: [], early: [], returns: 0 })
  expect(checkLog([1, 3], [1, 2, 3])).toEqual({ missing: [2, 3], early: [3], returns: 0 })
  expect(checkLog([1, 2, 1, 2, 3], [1, 2, 3])).toEqual({ missing: [], early: [], returns: 1 })
})

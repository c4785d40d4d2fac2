/** Which accepted events create a delivery: exactly those in the contract, and in the statement that accepts them. */
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { AddressCheck } from "@data-cabinet/core/delivery/AddressCheck"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { appendEvents, type AcceptRequest, EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer, Option } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { testCabinet } from "../support/testCabinet.ts"
import { testDatabase, type TestDatabase } from "../support/postgres.ts"

let database: TestDatabase
/** Any address, because nothing is sent from here. */
const unchecked = Layer.succeed(AddressCheck, AddressCheck.of({ check: () => Effect.void }))
const runtimeOf = (url: string) => testCabinet(url, { override: unchecked })
let runtime: ReturnType<typeof runtimeOf>
let orders: number
let letters: number

beforeEach(async () => {
  database = await testDatabase()
  runtime = runtimeOf(database.url)
  orders = (await runtime.runPromise(Sources.use((sources) => sources.create({ name: "Orders" })))).id
  letters = (await runtime.runPromise(Sources.use((sources) => sources.create({ name: "Letters" })))).id
})
afterEach(async () => {
  await runtime.dispose()
  await database.drop()
})

/** Accepts one event and returns its id. */
const accept = (sourceId: number, value: string, change: Partial<AcceptRequest> & { readonly empty?: boolean } = {}) =>
  runtime.runPromise(
    Effect.gen(function* () {
      const source = Option.getOrThrow(yield* Sources.use((sources) => sources.forIntake(sourceId)))
      const { empty = false, ...rest } = change
      const fingerprint = value.charCodeAt(0).toString(16).padStart(64, "0")
      const event = {
        ...fingerprintedEvent(new Map([["value", value]])),
        empty,
        fingerprint: rest.channel === undefined ? fingerprint : null,
      }
      const request = {
        sourceId,
        sourceVersion: source.version,
        channel: "webhook",
        history: false,
        events: [event],
        original: null,
        ...rest,
      } as const
      const [receipt] = yield* EventLog.use((log) => appendEvents(log, request))
      return receipt!.id
    }),
  )
const subscribe = (sources: "all" | ReadonlyArray<number>) =>
  runtime.runPromise(Addresses.use((addresses) => addresses.create({ url: "https://example.com/", sources })))
/** The events that have a delivery to this address. */
const told = async (addressId: number) => {
  const rows = await database.run(
    `SELECT event_id::int AS id FROM cabinet.delivery_all WHERE address_id = ${addressId} ORDER BY id`,
  )
  return rows.map(({ id }) => id)
}

it("an accepted event creates a delivery for every address that is subscribed to its source", async () => {
  const every = await subscribe("all")
  const some = await subscribe([orders])
  const order = await accept(orders, "a")
  const letter = await accept(letters, "a")
  const { id: later } = await runtime.runPromise(Sources.use((sources) => sources.create({ name: "Later" })))
  const late = await accept(later, "a")
  expect(await told(every.id)).toEqual([order, letter, late])
  expect(await told(some.id)).toEqual([order])
})

it("repeats, empty events, history from files and first polls, and earlier events create no delivery", async () => {
  await accept(orders, "before")
  const { id } = await subscribe("all")
  const first = await accept(orders, "x")
  await accept(orders, "x")
  await accept(orders, "e", { empty: true })
  await accept(orders, "f", { channel: "file", history: true })
  await accept(orders, "p", { channel: "pull", history: true })
  const polled = await accept(orders, "q", { channel: "pull" })
  expect(await told(id)).toEqual([first, polled])
})

it("a changed subscription applies from then on, and a removed address receives nothing more", async () => {
  const { id } = await subscribe([orders])
  const change = (sources: "all" | ReadonlyArray<number>) =>
    runtime.runPromise(Addresses.use((addresses) => addresses.set(id, { sources })))
  const one = await accept(orders, "1")
  expect((await change([letters])).sources).toEqual([letters])
  await accept(orders, "2")
  const three = await accept(letters, "3")
  expect((await change("all")).sources).toBe("all")
  const four = await accept(orders, "4")
  await expect(change([letters, 999])).rejects.toMatchObject({ code: "no_such_source" })
  await runtime.runPromise(Addresses.use((addresses) => addresses.remove(id)))
  await accept(orders, "5")
  expect(await told(id)).toEqual([one, three, four])
  expect(await database.run("SELECT DISTINCT state FROM cabinet.delivery_all")).toEqual([{ state: "cancelled" }])
})

it("an event that is deleted before it is sent is not sent", async () => {
  await subscribe("all")
  const gone = await accept(orders, "a")
  const kept = await accept(orders, "b")
  await database.run(`UPDATE cabinet.event SET deleted_at = cabinet.now() WHERE id = ${gone}`)
  const request = { lane: "healthy", limit: 9, perAddress: 9, room: new Map(), after: 0, leaseSeconds: 60 } as const
  const claimed = await runtime.runPromise(DeliveryQueue.use((queue) => queue.claim(request)))
  expect(claimed.map(({ event }) => JSON.parse(Buffer.from(event!.json).toString()).id)).toEqual([kept])
})

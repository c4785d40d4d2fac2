/** A slice of deliveries ends in time, however slow the machine is. */
import { FanOutStore } from "@data-cabinet/core/delivery/FanOut"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { Clock, Effect, Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { type DeliveryCabinet, openDeliveryCabinet } from "./deliveryCabinet.ts"

let cabinet: DeliveryCabinet
let source: number
beforeAll(async () => {
  cabinet = await openDeliveryCabinet()
  source = await cabinet.begin()
})
afterAll(() => cabinet?.close())

/** Three seconds pass between any two looks at it. */
const slowly = <A, E, R>(self: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const real = yield* Clock.Clock
    let now = real.currentTimeMillisUnsafe()
    const currentTimeMillis = Effect.sync(() => (now += 3_000))
    return yield* Effect.provideService(self, Clock.Clock, Object.assign(Object.create(real), { currentTimeMillis }))
  })

const accept = async () => {
  const [seen] = await cabinet.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)
  const event = { ...fingerprintedEvent(new Map([["kind", "any"]])), fingerprint: null }
  const request = {
    sourceId: source,
    sourceVersion: (seen as { version: number }).version,
    channel: "webhook" as const,
    history: false,
    events: [event, event, event],
    original: null,
  }
  await cabinet.runtime.runPromise(EventLog.use((log) => appendEvents(log, request)))
}

it("a slice that takes long commits the events that it has, and says that there are more", async () => {
  for (const path of ["a", "b"]) {
    await cabinet.book((book) => book.create({ url: `https://example.com/${path}`, sources: [source] }))
  }
  await cabinet.run(`UPDATE cabinet.source SET fans_out = true WHERE id = ${source}`)
  await accept()
  const held = await cabinet.runtime.runPromise(FollowerStore.use((store) => store.claim("deliveries")))
  const slice = () =>
    cabinet.runtime.runPromise(slowly(FanOutStore.use((store) => store.write(Option.getOrThrow(held), 1_000))))
  assert.deepEqual(await slice(), { written: 2, more: true })
  assert.deepEqual(await slice(), { written: 2, more: true })
  assert.deepEqual(await slice(), { written: 2, more: true })
  assert.deepEqual(await slice(), { written: 0, more: false })
})

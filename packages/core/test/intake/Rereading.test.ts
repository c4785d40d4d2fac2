import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { Rereading } from "@data-cabinet/core/intake/Rereading"
import { type RereadEvent, RereadStore } from "@data-cabinet/core/intake/RereadStore"
import { CursorKey, CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect, Layer } from "effect"
import { assert, it } from "vitest"

const EVENTS = 50

const event = (id: number): RereadEvent => {
  const fields = Array.from({ length: 20 }, (_, n) => `f${n}=\xe4${"\xe5".repeat(300)}`)
  const body = Buffer.from(fields.join("&"), "latin1")
  return {
    id,
    inTrash: false,
    schema: null,
    payload: JSON.stringify(Object.fromEntries(fields.map((field) => field.split("=")))),
    original: {
      body,
      bodyBytes: body.length,
      contentType: "application/x-www-form-urlencoded",
      query: null,
      charset: "windows-1252",
      charsetFrom: "source",
    },
  }
}

const run = <A, E>(work: Effect.Effect<A, E, Rereading>) =>
  Effect.runPromise(Effect.provide(work, Layer.provide(Rereading.layer, dependencies)))

const dependencies = Layer.mergeAll(
  Layer.succeed(RereadStore, {
    missing: () => Effect.succeed(null),
    find: (events: ReadonlyArray<number>) => Effect.succeed(events.map(event)),
    slice: () => Effect.die("unused"),
    countResent: (events: ReadonlyArray<number>) => Effect.succeed(new Map(events.map((id) => [id, 2]))),
    change: () => Effect.die("unused"),
  }),
  Layer.succeed(Sources, {} as never),
  Layer.succeed(DeliverySignal, {} as never),
  Layer.succeed(CursorKeys, { key: Effect.succeed(new CursorKey(Buffer.alloc(32))) }),
)

it("Rereading yields to the event loop after each event of a trial", async () => {
  let turns = 0
  let isDone = false
  const count = (): void => {
    turns++
    if (!isDone) setImmediate(count)
  }
  const options = { encoding: "windows-1251", allValues: false, deliver: false }
  const ids = Array.from({ length: EVENTS }, (_, n) => n + 1)
  const work = Effect.flatMap(Rereading, (rereading) => rereading.tryEvents(ids, options))
  setImmediate(count)
  const { verdicts, example } = await run(work)
  isDone = true
  assert.strictEqual(verdicts.filter(({ outcome }) => outcome === "changed").length, EVENTS)
  assert.isAtLeast(turns, EVENTS)
  assert.strictEqual(example?.event, 1)
  assert.strictEqual(example?.more, 10)
  assert.deepStrictEqual(example?.values[0], {
    field: "f0",
    fieldBefore: null,
    before: `ä${"å".repeat(199)}…`,
    after: `д${"е".repeat(199)}…`,
  })
})

it("tryEvents counts what would be sent again, if it is to be", async () => {
  const count = (deliver: boolean) =>
    run(
      Rereading.use((rereading) =>
        rereading.tryEvents([1, 2], { encoding: "windows-1251", allValues: false, deliver }),
      ),
    )
  assert.strictEqual((await count(true)).deliveries, 4)
  assert.strictEqual((await count(false)).deliveries, 0)
})

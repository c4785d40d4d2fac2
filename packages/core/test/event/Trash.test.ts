import { DeliverySignal } from "@data-cabinet/core/delivery/DeliverySignal"
import { MAX_TRASH_EVENTS, Trash } from "@data-cabinet/core/event/Trash"
import { TrashStore } from "@data-cabinet/core/event/TrashStore"
import { Effect, Layer } from "effect"
import { expect, it } from "vitest"

/** A store in which the events `missing` do not exist; it records the events of each call that reaches it. */
const over = (missing: ReadonlyArray<number> = []) => {
  const reached: Array<ReadonlyArray<number>> = []
  const answer = (events: ReadonlyArray<number>) => {
    reached.push(events)
    return Effect.succeed({ changed: missing.length > 0 ? 0 : events.length, missing })
  }
  const store = TrashStore.of({
    trash: (_, events) => answer(events),
    untrash: (_, events) => answer(events),
    purge: answer,
  })
  const layer = Trash.layer.pipe(Layer.provide(Layer.merge(Layer.succeed(TrashStore, store), DeliverySignal.layer)))
  const calls = [
    (events: ReadonlyArray<number>) => Trash.use((trash) => trash.trash(3, events)),
    (events: ReadonlyArray<number>) => Trash.use((trash) => trash.untrash(3, events)),
    (events: ReadonlyArray<number>) => Trash.use((trash) => trash.purge(events)),
  ].map((call) => (events: ReadonlyArray<number>) => call(events).pipe(Effect.provide(layer)))
  return { reached, calls }
}

it("every call refuses more events than the limit without a call to the store, and passes the limit on", () => {
  const { reached, calls } = over()
  const events = Array.from({ length: MAX_TRASH_EVENTS + 1 }, (_, n) => n + 1)
  for (const call of calls) {
    expect(Effect.runSync(Effect.flip(call(events)))).toMatchObject({
      code: "too_many_events",
      message: "At most 10000 events at a time; there were 10001.",
    })
    expect(Effect.runSync(call(events.slice(1)))).toBe(MAX_TRASH_EVENTS)
  }
  expect(reached).toHaveLength(calls.length)
})

it("every call passes each event on once, however often the caller names it", () => {
  const { reached, calls } = over()
  for (const call of calls) expect(Effect.runSync(call([5, 6, 5]))).toBe(2)
  expect(reached).toEqual([
    [5, 6],
    [5, 6],
    [5, 6],
  ])
})

it("every call names at most five missing events", () => {
  const { calls } = over([1, 2, 3, 4, 5, 6])
  const messages = calls.map((call) => Effect.runSync(Effect.flip(call([1, 2, 3, 4, 5, 6, 7]))).message)
  const ofSource = "Source 3 has no event 1, 2, 3, 4, 5, …."
  expect(messages).toEqual([ofSource, ofSource, "Event 1 does not exist."])
})

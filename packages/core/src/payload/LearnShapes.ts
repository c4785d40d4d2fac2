/** Learns the shapes of payloads behind the feed, in every serving process; an accept knows nothing of them. */
import { Effect, Result } from "effect"
import type { FollowerKind } from "../follower/FollowerLoop.ts"
import type { JsonObject } from "../json/Json.ts"
import { JsonReading, OWN_DEPTH } from "../json/ParseJson.ts"
import { ShapeLearning } from "./PayloadShape.ts"
import { type Learn, SHAPES, ShapeStore } from "./ShapeStore.ts"

/** What one transaction learns from. A larger event is learned alone. */
const SLICE = { events: 500, bytes: 500_000 } as const

/** The pause at the end of the feed. */
const REST_MILLIS = 15_000

/** Other requests are served after this many values or characters, a few milliseconds' work. */
const VALUES_AT_ONCE = 10_000
const CHARACTERS_AT_ONCE = 100_000

const payloadOf = Effect.fnUntraced(function* (text: string) {
  const reading = new JsonReading(text, { maxDepth: OWN_DEPTH })
  for (;;) {
    const read = reading.advance(CHARACTERS_AT_ONCE)
    if (read !== undefined) return Result.getOrThrow(read) as JsonObject
    yield* Effect.yieldNow
  }
})

/** Learns event by event in the order of the feed, so that the result does not depend on how it is divided. */
export const learnEvents: Learn = (shapes, events) =>
  Effect.gen(function* () {
    for (const { sourceId, payload, at } of events) {
      const learning = new ShapeLearning(shapes.get(sourceId)!)
      learning.begin({ payload: yield* payloadOf(payload), at })
      while (!learning.advance(VALUES_AT_ONCE)) yield* Effect.yieldNow
    }
  })

/** The follower that learns from every event once. */
export const shapeFollower: FollowerKind<ShapeStore> = {
  kind: SHAPES,
  task: "shape learning",
  restMillis: REST_MILLIS,
  pollMillis: REST_MILLIS,
  turn: (held) =>
    Effect.map(
      ShapeStore.use((store) => store.learn(learnEvents, SLICE, held)),
      (more) => (more === null ? "lost" : more ? "more" : "end"),
    ),
}

/** Learns from the latest events for a reader, so that it sees what was just sent. A read-only database still has its shapes. */
export const learnAhead = (store: ShapeStore["Service"]) => Effect.ignore(store.learn(learnEvents, SLICE, null))

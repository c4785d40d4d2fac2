/** Learns the shapes of payloads behind the feed, in every serving process; an accept knows nothing of them. */
import { Effect } from "effect"
import type { FollowerKind } from "../follower/FollowerLoop.ts"
import { ShapeLearning } from "./ShapeLearning.ts"
import { type Learn, SHAPES, ShapeStore } from "./ShapeStore.ts"

/** What one transaction learns from. A larger event is learned alone. */
const SLICE = { events: 5_000, bytes: 2_000_000 } as const

/** The pause at the end of the feed. */
const REST_MILLIS = 15_000

/** Other requests are served after this many characters, about a millisecond's work. */
const CHARACTERS_AT_ONCE = 200_000

/** Learns in the order of the feed, so that the result does not depend on how it is divided. */
export const learnEvents: Learn = (shapes, slice) =>
  Effect.gen(function* () {
    for (const { sourceId, ...events } of slice) {
      const learning = new ShapeLearning(shapes.get(sourceId)!)
      learning.begin(events)
      while (!learning.advance(CHARACTERS_AT_ONCE)) yield* Effect.yieldNow
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

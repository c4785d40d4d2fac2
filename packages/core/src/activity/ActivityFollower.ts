/** Counts events behind the feed: a follower that every serving process may serve. */
import { Effect } from "effect"
import type { FollowerKind } from "../follower/FollowerLoop.ts"
import { ActivityStore } from "./ActivityStore.ts"

/** The kind and the name of the follower. */
export const ACTIVITY = "activity"

/** Events counted in one transaction. */
const BATCH = 10_000

/** The pause at the end of the feed. A count per accept would cost intake. */
const REST_MILLIS = 15_000

export const activityFollower: FollowerKind<ActivityStore> = {
  kind: ACTIVITY,
  task: "activity count",
  restMillis: REST_MILLIS,
  pollMillis: REST_MILLIS,
  turn: (held) =>
    Effect.map(
      ActivityStore.use((store) => store.countEvents(BATCH, held)),
      (counted) => (counted === null ? "lost" : counted === BATCH ? "more" : "end"),
    ),
}

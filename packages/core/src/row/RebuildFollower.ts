/**
 * Removes what a lost process has left of a rebuild. The lease of a rebuild belongs to the process that began it: another one
 * can claim it only when that process is lost, and then ends the rebuild. The old table is as it was.
 */
import { Effect } from "effect"
import type { FollowerKind } from "../follower/FollowerLoop.ts"
import { REBUILD_KIND, RebuildStore } from "./RebuildStore.ts"

export const rebuildFollower: FollowerKind<RebuildStore> = {
  kind: REBUILD_KIND,
  task: "table rebuild cleanup",
  restMillis: 1_000,
  pollMillis: 5_000,
  turn: ({ id, lease }) =>
    Effect.as(
      RebuildStore.use((store) => store.clean(id, lease)),
      "lost" as const,
    ),
}

/**
 * A process that counts events as the follower `activity`, and sends its parent each step: `followerWorker.ts databaseUrl
 * stop|go`. With `stop` it stops itself, as `kill -STOP` would, after its first claim.
 */
import { activityFollower } from "@data-cabinet/core/activity/CountActivity"
import { followerLoop } from "@data-cabinet/core/follower/FollowerLoop"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { Effect, Layer, Option } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"

const [, , url = "", step = "go"] = process.argv
let stops = step === "stop"

const store = Layer.effect(
  FollowerStore,
  FollowerStore.use((real) =>
    Effect.succeed(
      FollowerStore.of({
        ...real,
        claim: (kind) =>
          Effect.tap(real.claim(kind), (held) =>
            Effect.sync(() => {
              if (Option.isNone(held)) return
              process.send?.("claimed")
              if (stops) process.kill(process.pid, "SIGSTOP")
              stops = false
            }),
          ),
      }),
    ),
  ),
)
const turn: typeof activityFollower.turn = (held) =>
  Effect.tap(activityFollower.turn(held), (end) => Effect.sync(() => process.send?.(`turn ${end}`)))
const worker = followerLoop({ ...activityFollower, turn, pollMillis: 200 }).pipe(
  Layer.provide(testCabinetLayer(url, { override: store })),
)
Effect.runFork(Layer.launch(worker))

/**
 * A process that serves destinations and stays at one step, of which it tells its parent: `destinationWorker.ts databaseUrl
 * root writing|appearing|written`. Before `written` it stops itself, as `kill -STOP` would.
 */
import { DestinationAdapters, type FeedSlice } from "@data-cabinet/core/destination/Destination"
import { destinationFollower } from "@data-cabinet/core/destination/WriteDestination"
import { followerLoop } from "@data-cabinet/core/follower/FollowerLoop"
import { Items } from "@data-cabinet/core/pagination/Items"
import { Effect, Layer } from "effect"
import { LOOPBACK } from "../support/s3Service.ts"
import { testCabinetLayer } from "../support/testCabinet.ts"

const [, , url = "", root = "", at = ""] = process.argv

const stop = (step: string): void => {
  if (at !== step) return
  process.send?.(step)
  process.kill(process.pid, "SIGSTOP")
}

/** No events, before which the process stops. */
class Stop extends Items {
  override texts(): ReadonlyArray<string> {
    stop("writing")
    return []
  }
}

const stopping = (slice: FeedSlice): FeedSlice => ({
  ...slice,
  events: at === "writing" ? [...slice.events, new Stop(Buffer.alloc(0), 0, [])] : slice.events,
  mayAppear: () => {
    stop("appearing")
    return slice.mayAppear()
  },
})

const written = Effect.suspend(() => {
  if (at !== "written") return Effect.void
  process.send?.("written")
  return Effect.never
})

const adapters = Layer.effect(
  DestinationAdapters,
  DestinationAdapters.use((real) =>
    Effect.succeed({
      ...real,
      open: (place) =>
        Effect.map(real.open(place), (opened) => ({
          ...opened,
          write: (slice) => Effect.andThen(opened.write(stopping(slice)), written),
        })),
    } satisfies typeof real),
  ),
)

const turn: typeof destinationFollower.turn = (held) =>
  Effect.onExit(destinationFollower.turn(held), () => Effect.sync(() => process.send?.("ended")))

const worker = followerLoop({ ...destinationFollower, turn, pollMillis: 200 }).pipe(
  Layer.provide(
    testCabinetLayer(url, { settings: { destinationRoot: root, allowedNetworks: [LOOPBACK] }, override: adapters }),
  ),
)
Effect.runFork(Layer.launch(worker))

/** A process that writes deliveries behind their accepts, in small slices: `fanOutWorker.ts databaseUrl`. */
import { FanOutStore, fanOutFollower } from "@data-cabinet/core/delivery/FanOut"
import { followerLoop } from "@data-cabinet/core/follower/FollowerLoop"
import { Effect, Layer } from "effect"
import { testCabinetLayer } from "../support/testCabinet.ts"

const [, , url = ""] = process.argv
const SLICE_ROWS = 70

const turn: typeof fanOutFollower.turn = (held) =>
  Effect.map(
    FanOutStore.use((store) => store.write(held, SLICE_ROWS)),
    (slice) => {
      process.send?.(slice === null ? "lost" : "wrote")
      return slice === null ? "lost" : slice.more ? "more" : "end"
    },
  )
const worker = followerLoop({ ...fanOutFollower, turn, pollMillis: 100 }).pipe(Layer.provide(testCabinetLayer(url)))
Effect.runFork(Layer.launch(worker))

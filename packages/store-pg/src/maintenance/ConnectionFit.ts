/** Re-reads how many connections this process may hold, because other processes come and go. */
import { background } from "@data-cabinet/core/runtime/Background"
import { Context, Effect, Layer } from "effect"
import { fitConnections } from "../connection/FitConnections.ts"

/** How many processes the supervisor of this one has started to work on the same database. */
export const StartedProcesses = Context.Reference<number>("@data-cabinet/store-pg/maintenance/StartedProcesses", {
  defaultValue: () => 1,
})

export const layer = Layer.effectDiscard(
  Effect.gen(function* () {
    const processes = yield* StartedProcesses
    yield* background("connection fit", "30 seconds", fitConnections(processes), { quiet: true })
  }),
)

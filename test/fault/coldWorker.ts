/**
 * A process that moves old events into files and stays at one step, of which it tells its parent: `coldWorker.ts databaseUrl
 * root read|added|finished|listed|deleted|none`. With `none` it
 * tells when its round begins.
 */
import { ColdFiles } from "@data-cabinet/core/cold/ColdFiles"
import { ColdStore } from "@data-cabinet/core/cold/ColdStore"
import { moveEvents } from "@data-cabinet/core/cold/MoveEvents"
import { Effect, Layer } from "effect"
import { COLD_LIMITS } from "../support/coldCabinet.ts"
import { testCabinet } from "../support/testCabinet.ts"

const [, , url = "", root = "", at = ""] = process.argv

/** The work of a step, after which this process stays there. */
const after = <A, E, R>(step: string, work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  step === at
    ? Effect.andThen(
        work,
        Effect.suspend(() => {
          process.send?.(step)
          return Effect.never
        }),
      )
    : work

const stopping = Layer.merge(
  Layer.effect(
    ColdStore,
    ColdStore.use((store) =>
      Effect.succeed({
        ...store,
        next: (place, limits) => after("read", store.next(place, limits)),
        list: (file, border) => after("listed", store.list(file, border)),
        deleteRows: (file, rows) => after("deleted", store.deleteRows(file, rows)),
      } satisfies typeof store),
    ),
  ),
  Layer.effect(
    ColdFiles,
    ColdFiles.use((files) =>
      Effect.succeed({
        ...files,
        create: (name) =>
          Effect.map(files.create(name), (writer) => ({
            add: (events) => after("added", writer.add(events)),
            finish: after("finished", writer.finish),
          })),
      } satisfies typeof files),
    ),
  ),
)

const cabinet = testCabinet(url, { settings: { coldStore: root }, override: stopping })
const begun = Effect.sync(() => at === "none" && process.send?.("begun"))
await cabinet.runPromise(Effect.andThen(begun, moveEvents(COLD_LIMITS, true)))
await cabinet.dispose()

/**
 * The worker's side: one of several processes that serve a cabinet from one port. It starts no database and prints
 * nothing; its parent sends it the settings, and the signal to stop (see bin).
 */
import type { Cluster } from "node:cluster"
import { MetricsText, ownMetrics } from "@data-cabinet/http-node/routes/ProcessRoutes"
import { Effect, Layer } from "effect"
import { isOurs, type ToParent, type ToWorker, WORKER_VARIABLE, type WorkPlace } from "./WorkerMessages.ts"

/** The worker's number; null outside a worker, and in another program's worker. */
export const workerNumber = (): string | null => {
  const number = process.env[WORKER_VARIABLE]
  if (number === undefined) return null
  // Not imported, because loading it takes 3 ms of every start. Its types know it as a module's default only.
  const { isWorker } = process.getBuiltinModule("node:cluster") as unknown as Cluster
  return isWorker ? number : null
}

const tell = (message: ToParent): void => void process.send?.(message)

const hear = (onMessage: (message: ToWorker) => void): (() => void) => {
  const listener = (message: unknown) => (isOurs(message) ? onMessage(message as ToWorker) : undefined)
  process.on("message", listener)
  return () => process.off("message", listener)
}

/** Requests its settings from the parent. */
export const workPlace = Effect.callback<WorkPlace>((resume) => {
  const stop = hear((message) => {
    if (message.cabinet !== "place") return
    stop()
    resume(Effect.succeed(message.place))
  })
  tell({ cabinet: "hello" })
})

export const reportServing = Effect.sync(() => tell({ cabinet: "serving" }))

/** `/metrics` of any worker covers all of them: the parent collects them from each. */
export const sharedMetrics = Layer.effect(
  MetricsText,
  Effect.gen(function* () {
    const run = Effect.runForkWith(yield* Effect.context())
    const awaiting = new Map<number, (text: string) => void>()
    let last = 0
    yield* Effect.acquireRelease(
      Effect.sync(() =>
        hear((message) => {
          if (message.cabinet === "metrics") {
            run(Effect.map(ownMetrics, (text) => tell({ cabinet: "metrics", id: message.id, text })))
          } else if (message.cabinet === "all-metrics") {
            awaiting.get(message.id)?.(message.text)
            awaiting.delete(message.id)
          }
        }),
      ),
      (stop) => Effect.sync(stop),
    )
    return Effect.callback<string>((resume) => {
      const id = ++last
      awaiting.set(id, (text) => resume(Effect.succeed(text)))
      tell({ cabinet: "all-metrics", id })
      return Effect.sync(() => awaiting.delete(id))
    })
  }),
)

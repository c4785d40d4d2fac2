/**
 * The parent's side: it holds the database, starts the workers that share its port, replaces one that dies, collects the
 * metrics of all, and stops them before the database closes. It serves nothing itself.
 */
import cluster, { type Worker } from "node:cluster"
import { ownMetrics } from "@data-cabinet/http-node/server/ProcessRoutes"
import { Effect, Metric } from "effect"
import { FastShutdown } from "./FastShutdown.ts"
import { mergeMetrics, type ProcessMetrics } from "./MergedMetrics.ts"
import { StartError } from "./StartError.ts"
import { isOurs, type ToParent, type ToWorker, WORKER_VARIABLE, type WorkPlace } from "./WorkerMessages.ts"

/** A worker that takes longer than this to return its metrics is left out. */
const METRICS_MILLIS = 2_000
/** Longer than any drain; a worker still running after it is killed. */
const STOP_MILLIS = 60_000
/** How long a dead worker's place stays empty: at first not at all, then longer each time it dies young. */
const YOUNG_MILLIS = 30_000
const LONGEST_PAUSE_MILLIS = 30_000

const serving = Metric.gauge("workers_serving", { description: "Workers of this server that serve." })
const replaced = Metric.counter("workers_replaced_total", {
  description: "Workers that ended by themselves and were replaced.",
  incremental: true,
})

interface Place {
  readonly number: string
  worker: Worker | null
  bornAt: number
  greeted: boolean
  serves: boolean
  /** How many times in a row its workers died young. */
  young: number
}

const tell = (worker: Worker, message: ToWorker): void => {
  // A worker about to exit receives nothing, and its exit is noticed anyway.
  if (worker.isConnected()) worker.send(message, () => {})
}

/**
 * Returns once all workers serve, and keeps them running until the scope closes. A worker that cannot start at all fails
 * the start.
 */
export const startWorkers = Effect.fnUntraced(function* (workPlace: WorkPlace) {
  const context = yield* Effect.context()
  const haste = yield* FastShutdown
  const run = Effect.runForkWith(context)
  const started = Promise.withResolvers<void>()
  const places: ReadonlyArray<Place> = Array.from({ length: workPlace.workers }, (_, n) => ({
    number: String(n + 1),
    worker: null,
    bornAt: 0,
    greeted: false,
    serves: false,
    young: 0,
  }))
  let isStarted = false
  let stopping = false
  let allGone = () => {}
  const waiting = new Set<NodeJS.Timeout>()

  const gathered = new Map<number, (place: Place, text: string) => void>()
  let lastId = 0
  const gather = (): Promise<ReadonlyArray<ProcessMetrics>> =>
    new Promise((resolve) => {
      const id = ++lastId
      const texts: Array<ProcessMetrics> = []
      const from = places.filter(({ serves }) => serves)
      const end = () => {
        clearTimeout(limit)
        gathered.delete(id)
        resolve(texts.sort((a, b) => Number(a.worker) - Number(b.worker)))
      }
      const limit = setTimeout(end, METRICS_MILLIS)
      gathered.set(id, ({ number }, text) => {
        texts.push({ worker: number, text })
        if (texts.length >= from.length) end()
      })
      for (const { worker } of from) if (worker !== null) tell(worker, { cabinet: "metrics", id })
    })

  const noteServing = () => {
    const count = places.filter(({ serves }) => serves).length
    serving.updateUnsafe(count, context)
    if (count < places.length || isStarted) return
    isStarted = true
    started.resolve()
  }

  const heard = (place: Place, worker: Worker, message: ToParent): void => {
    if (place.worker !== worker) return
    switch (message.cabinet) {
      case "hello":
        place.greeted = true
        return tell(worker, { cabinet: "place", place: workPlace })
      case "serving":
        place.serves = true
        return noteServing()
      case "metrics":
        return gathered.get(message.id)?.(place, message.text)
      case "all-metrics":
        run(
          Effect.gen(function* () {
            const own = { worker: null, text: yield* ownMetrics }
            const text = mergeMetrics([own, ...(yield* Effect.promise(gather))])
            tell(worker, { cabinet: "all-metrics", id: message.id, text })
          }),
        )
    }
  }

  const fill = (place: Place): void => {
    const worker = cluster.fork({ [WORKER_VARIABLE]: place.number })
    Object.assign(place, { worker, bornAt: Date.now(), greeted: false, serves: false })
    worker.on("message", (message: unknown) =>
      isOurs(message) ? heard(place, worker, message as ToParent) : undefined,
    )
    worker.once("exit", (code, signal) => ended(place, signal ?? String(code)))
  }

  const ended = (place: Place, how: string): void => {
    Object.assign(place, { worker: null, serves: false })
    noteServing()
    if (stopping) {
      if (places.every(({ worker }) => worker === null)) allGone()
      return
    }
    if (!isStarted) return started.reject(new Error(how))
    place.young = Date.now() - place.bornAt < YOUNG_MILLIS ? place.young + 1 : 0
    const pause = place.young < 2 ? 0 : Math.min(LONGEST_PAUSE_MILLIS, 500 * 2 ** (place.young - 2))
    replaced.updateUnsafe(1, context)
    run(Effect.logWarning(`worker ${place.number} ended (${how}) and is replaced${pause > 0 ? ` in ${pause} ms` : ""}`))
    const timer = setTimeout(() => {
      waiting.delete(timer)
      fill(place)
    }, pause)
    waiting.add(timer)
  }

  const stop = Effect.callback<void>((resume) => {
    stopping = true
    for (const timer of waiting) clearTimeout(timer)
    const limit = setTimeout(() => {
      for (const { worker } of places) worker?.process.kill("SIGKILL")
    }, STOP_MILLIS)
    allGone = () => {
      clearTimeout(limit)
      resume(Effect.void)
    }
    if (places.every(({ worker }) => worker === null)) return allGone()
    for (const { worker, greeted } of places) {
      if (worker === null) continue
      if (greeted) tell(worker, { cabinet: "stop", haste: haste() })
      else worker.process.kill("SIGTERM")
    }
  })

  yield* Effect.acquireRelease(
    Effect.sync(() => {
      for (const place of places) fill(place)
    }),
    () => stop,
  )
  yield* Effect.tryPromise({
    try: () => started.promise,
    catch: (error) =>
      new StartError({
        code: "worker_ended",
        message: `A worker could not start (${error instanceof Error ? error.message : String(error)}); what it said stands above.`,
      }),
  })
})

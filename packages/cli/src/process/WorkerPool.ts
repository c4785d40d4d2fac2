/**
 * The parent's side: it holds the database, starts the workers that share its port, replaces one that dies, collects the
 * metrics of all, and stops them before the database closes. It serves nothing itself.
 */
import cluster, { type Worker } from "node:cluster"
import { ownMetrics } from "@data-cabinet/http-node/routes/ProcessRoutes"
import { type Context, Effect, Metric } from "effect"
import { mergeMetrics, type ProcessMetrics } from "./MergedMetrics.ts"
import { StartError } from "../error/StartError.ts"
import { isOurs, type ToParent, type ToWorker, WORKER_VARIABLE, type WorkPlace } from "./WorkerMessages.ts"
import { FastShutdown } from "./Signals.ts"

/** A worker that takes longer than this to return its metrics is left out. */
const METRICS_MILLIS = 2_000
/** Longer than any drain; a worker still running after it is killed. */
const STOP_MILLIS = 60_000
/** How long a dead worker's place stays empty: at first it is replaced at once, then later each time it dies young. */
const EARLY_EXIT_MILLIS = 30_000
const MAX_PAUSE_MILLIS = 30_000

const serving = Metric.gauge("workers_serving", { description: "Worker processes that are serving requests." })
const replaced = Metric.counter("workers_replaced_total", {
  description: "Worker processes that exited unexpectedly and were replaced.",
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

/** A request to all serving workers for their metrics. */
interface Gathering {
  readonly add: (place: Place, text: string) => void
}

class WorkerPool {
  readonly #workPlace: WorkPlace
  readonly #context: Context.Context<never>
  readonly #isFast: () => boolean
  /** One for each worker. Written by `#fill`, `#receive` and `#ended`. */
  readonly #places: ReadonlyArray<Place>
  /** Resolved by `#noteServing` when all workers serve for the first time; rejected by `#ended` before that. */
  readonly #started = Promise.withResolvers<void>()
  #isStarted = false
  /** Set by `stop`: a worker that ends from then on is not replaced. */
  #isStopping = false
  /** Called by `#ended` while stopping, when no worker is left. */
  #allGone = () => {}
  /** The pauses before places are filled again. */
  readonly #pauses = new Set<NodeJS.Timeout>()
  /** By the id in the messages; an entry is removed when its workers have responded or are late. */
  readonly #gatherings = new Map<number, Gathering>()
  #lastGathering = 0

  constructor(workPlace: WorkPlace, context: Context.Context<never>, isFast: () => boolean) {
    this.#workPlace = workPlace
    this.#context = context
    this.#isFast = isFast
    this.#places = Array.from({ length: workPlace.workers }, (_, n) => ({
      number: String(n + 1),
      worker: null,
      bornAt: 0,
      greeted: false,
      serves: false,
      young: 0,
    }))
  }

  start(): void {
    for (const place of this.#places) this.#fill(place)
  }

  /** Once all workers serve; rejected if one ends before. */
  get started(): Promise<void> {
    return this.#started.promise
  }

  readonly stop: Effect.Effect<void> = Effect.callback((resume) => {
    this.#isStopping = true
    for (const timer of this.#pauses) clearTimeout(timer)
    const limit = setTimeout(() => {
      for (const { worker } of this.#places) worker?.process.kill("SIGKILL")
    }, STOP_MILLIS)
    this.#allGone = () => {
      clearTimeout(limit)
      resume(Effect.void)
    }
    if (this.#isEmpty) return this.#allGone()
    for (const { worker, greeted } of this.#places) {
      if (worker === null) continue
      if (greeted) tell(worker, { cabinet: "stop", fast: this.#isFast() })
      else worker.process.kill("SIGTERM")
    }
  })

  get #isEmpty(): boolean {
    return this.#places.every(({ worker }) => worker === null)
  }

  #fill(place: Place): void {
    const worker = cluster.fork({ [WORKER_VARIABLE]: place.number })
    Object.assign(place, { worker, bornAt: Date.now(), greeted: false, serves: false })
    worker.on("message", (message: unknown) =>
      isOurs(message) ? this.#receive(place, worker, message as ToParent) : undefined,
    )
    worker.once("exit", (code, signal) => this.#ended(place, signal ?? String(code)))
  }

  #receive(place: Place, worker: Worker, message: ToParent): void {
    if (place.worker !== worker) return
    switch (message.cabinet) {
      case "hello":
        place.greeted = true
        return tell(worker, { cabinet: "place", place: this.#workPlace })
      case "serving":
        place.serves = true
        return this.#noteServing()
      case "metrics":
        return this.#gatherings.get(message.id)?.add(place, message.text)
      case "all-metrics":
        this.#run(this.#sendMetrics(worker, message.id))
    }
  }

  #noteServing(): void {
    const count = this.#places.filter(({ serves }) => serves).length
    serving.updateUnsafe(count, this.#context)
    if (count < this.#places.length || this.#isStarted) return
    this.#isStarted = true
    this.#started.resolve()
  }

  #ended(place: Place, how: string): void {
    Object.assign(place, { worker: null, serves: false })
    this.#noteServing()
    if (this.#isStopping) {
      if (this.#isEmpty) this.#allGone()
      return
    }
    if (!this.#isStarted) return this.#started.reject(new Error(how))
    this.#replace(place, how)
  }

  #replace(place: Place, how: string): void {
    place.young = Date.now() - place.bornAt < EARLY_EXIT_MILLIS ? place.young + 1 : 0
    const pause = place.young < 2 ? 0 : Math.min(MAX_PAUSE_MILLIS, 500 * 2 ** (place.young - 2))
    replaced.updateUnsafe(1, this.#context)
    this.#run(
      Effect.logWarning(
        `worker ${place.number} exited (${how}) and is being replaced${pause > 0 ? ` in ${pause} ms` : ""}`,
      ),
    )
    const timer = setTimeout(() => {
      this.#pauses.delete(timer)
      this.#fill(place)
    }, pause)
    this.#pauses.add(timer)
  }

  /** Sends the metrics of all workers, and of this process, to the worker that requested them. */
  #sendMetrics(worker: Worker, id: number): Effect.Effect<void> {
    return Effect.gen({ self: this }, function* () {
      const own = { worker: null, text: yield* ownMetrics }
      const text = mergeMetrics([own, ...(yield* Effect.promise(() => this.#gather()))])
      tell(worker, { cabinet: "all-metrics", id, text })
    })
  }

  #gather(): Promise<ReadonlyArray<ProcessMetrics>> {
    return new Promise((resolve) => {
      const id = ++this.#lastGathering
      const texts: Array<ProcessMetrics> = []
      const from = this.#places.filter(({ serves }) => serves)
      const end = () => {
        clearTimeout(limit)
        this.#gatherings.delete(id)
        resolve(texts.sort((a, b) => Number(a.worker) - Number(b.worker)))
      }
      const limit = setTimeout(end, METRICS_MILLIS)
      const add = ({ number }: Place, text: string) => {
        texts.push({ worker: number, text })
        if (texts.length >= from.length) end()
      }
      this.#gatherings.set(id, { add })
      for (const { worker } of from) if (worker !== null) tell(worker, { cabinet: "metrics", id })
    })
  }

  #run(work: Effect.Effect<void>): void {
    Effect.runForkWith(this.#context)(work)
  }
}

/**
 * Returns once all workers serve, and keeps them running until the scope closes. A worker that cannot start at all fails
 * the start.
 */
export const startWorkers = Effect.fnUntraced(function* (workPlace: WorkPlace) {
  const pool = new WorkerPool(workPlace, yield* Effect.context(), yield* FastShutdown)
  yield* Effect.acquireRelease(
    Effect.sync(() => pool.start()),
    () => pool.stop,
  )
  yield* Effect.tryPromise({
    try: () => pool.started,
    catch: (error) =>
      new StartError({
        code: "worker_ended",
        message: `A worker could not start (${error instanceof Error ? error.message : String(error)}); see its output above.`,
      }),
  })
})

/**
 * Reads spreadsheets in a separate thread, with limits against every way in which an archive can be hostile: its bytes,
 * its declared unpacked size, the thread's memory, the time between two batches of rows, and the number read at once.
 * The calling thread only collects the archive's bytes.
 */
import type { Worker } from "node:worker_threads"
import { type FileError, fileError, sheetError } from "@data-cabinet/core/file/FileError"
import { MAX_ITEM_LENGTH } from "@data-cabinet/core/file/FileItem"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { type OpenSheet, SheetReader, type SheetRow } from "@data-cabinet/core/file/SheetReader"
import { Cause, Effect, Layer, Queue, type Scope, Semaphore, Stream } from "effect"
import { megabytes, SHEET_LIMITS, type SheetLimits } from "../sheet/SheetLimits.ts"
import type { SheetResult, SheetTask } from "./SheetTask.ts"
import { startSheetWorker } from "./StartSheetWorker.ts"

/** Unprocessed batches on their way to the reader. */
const BATCHES_IN_FLIGHT = 4

const gather = Effect.fnUntraced(function* (file: ReadableFile, limit: number) {
  const tooLarge = fileError(
    "too_large",
    `A workbook may be at most ${megabytes(limit)}; save a larger one as CSV, which has no such limit.`,
  )
  if (file.size > limit) return yield* tooLarge
  const chunks: Array<Uint8Array> = []
  let size = 0
  yield* Stream.runForEach(file.bytes, (chunk) => {
    chunks.push(chunk)
    size += chunk.length
    return size > limit ? Effect.fail(tooLarge) : Effect.void
  })
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.length
  }
  return bytes
})

const unreadable = (reason: string): FileError =>
  fileError("unreadable", `The workbook cannot be read: ${reason.replace(/\.$/, "")}.`)

type FoundSheet = Pick<OpenSheet, "name" | "emptyBefore">

/** The messages of a running thread: the sheet first, then rows until the end or a refusal. */
interface SheetMessages {
  readonly sheets: Queue.Queue<FoundSheet, FileError | Cause.Done>
  readonly rows: Queue.Queue<ReadonlyArray<SheetRow>, FileError | Cause.Done>
}

const listen = (worker: Worker, { sheets, rows }: SheetMessages, heapMegabytes: number): void => {
  const fail = (error: FileError) => {
    Queue.failCauseUnsafe(sheets, Cause.fail(error))
    Queue.failCauseUnsafe(rows, Cause.fail(error))
  }
  worker.on("message", (result: SheetResult) => {
    if ("sheet" in result) Queue.offerUnsafe(sheets, { name: result.sheet, emptyBefore: result.empty })
    else if ("rows" in result) Queue.offerUnsafe(rows, result.rows)
    else if ("end" in result) Queue.endUnsafe(rows)
    else fail(result.isChoice ? sheetError(result.message) : fileError(result.refused, result.message))
  })
  worker.on("error", (cause) => {
    const outOfMemory = "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"
    fail(
      outOfMemory
        ? fileError("too_large", `Reading the workbook takes more than ${heapMegabytes} MB of memory; save it as CSV.`)
        : unreadable(cause.message),
    )
  })
  // After its last message this has no effect.
  worker.on("exit", () => fail(unreadable("reading stopped before the end of the file")))
}

/** For the whole process, however many cabinets it serves: they share one machine's memory. */
const SLOTS = Semaphore.makeUnsafe(SHEET_LIMITS.atOnce)

const busy = (what: string, { waitMillis }: SheetLimits) =>
  fileError("busy", `${what}, and none finished within ${waitMillis / 1000} s: try again later.`)

/** Held until the scope ends. */
const held = (slots: Semaphore.Semaphore) =>
  Effect.acquireRelease(slots.take(1), () => slots.release(1), { interruptible: true })

/**
 * For one cabinet, which reads one workbook at a time, so that it cannot take all slots. `start` starts the thread of
 * `SheetWorker`.
 */
export const layer = (options: Partial<SheetLimits> = {}, start = startSheetWorker) => {
  const limits = { ...SHEET_LIMITS, ...options }
  const slots = options.atOnce === undefined ? SLOTS : Semaphore.makeUnsafe(options.atOnce)
  return Layer.sync(SheetReader, () => {
    const own = Semaphore.makeUnsafe(1)
    const within = <A, R>(work: Effect.Effect<A, never, R>, otherwise: FileError) =>
      Effect.timeoutOrElse(work, { duration: limits.waitMillis, orElse: () => Effect.fail(otherwise) })

    /** The cabinet's own slot comes first, so that waiting for it delays no other cabinet. */
    const slot = Effect.andThen(
      within(held(own), busy("Another workbook of this cabinet is being read", limits)),
      within(held(slots), busy(`${limits.atOnce} workbooks are being read`, limits)),
    )
    return { open: opener(limits, slot, start) }
  })
}

const opener = (
  limits: SheetLimits,
  slot: Effect.Effect<unknown, FileError, Scope.Scope>,
  start: typeof startSheetWorker,
) =>
  Effect.fnUntraced(function* (file: ReadableFile, wanted: string | undefined) {
    yield* slot
    const bytes = yield* gather(file, limits.archiveBytes)
    const sheets = yield* Queue.unbounded<FoundSheet, FileError | Cause.Done>()
    const rows = yield* Queue.unbounded<ReadonlyArray<SheetRow>, FileError | Cause.Done>()
    const credit = new Int32Array(new SharedArrayBuffer(4))
    credit[0] = BATCHES_IN_FLIGHT
    const task: SheetTask = { bytes, wanted, limits, rowCharacters: MAX_ITEM_LENGTH, credit }
    const worker = yield* Effect.acquireRelease(
      Effect.sync(() =>
        start({
          workerData: task,
          // Transferred, not copied.
          transferList: [bytes.buffer],
          resourceLimits: { maxOldGenerationSizeMb: limits.heapMegabytes },
          execArgv: [],
          env: {},
        }),
      ),
      (running) => Effect.promise(() => running.terminate()),
    )
    listen(worker, { sheets, rows }, limits.heapMegabytes)
    const inTime = <A>(work: Effect.Effect<A, FileError | Cause.Done>) =>
      Effect.timeoutOrElse(work, {
        duration: limits.idleMillis,
        orElse: () => Effect.fail(unreadable(`no row was read for ${limits.idleMillis / 1000} s`)),
      })
    const found = yield* inTime(Queue.take(sheets)).pipe(
      Effect.catchIf(Cause.isDone, () => Effect.fail(unreadable("it lists no sheets"))),
    )
    const next = inTime(Queue.take(rows)).pipe(
      Effect.tap(() =>
        Effect.sync(() => {
          Atomics.add(credit, 0, 1)
          Atomics.notify(credit, 0)
        }),
      ),
    )
    return { ...found, rows: Stream.fromEffectRepeat(next) }
  })

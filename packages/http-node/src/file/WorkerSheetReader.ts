/**
 * Spreadsheets read by a thread of their own, bounded in every way that an archive can be hostile: the bytes of the
 * archive, what it says it unpacks into, the thread's heap, and the time between two batches of rows.
 */
import { Worker } from "node:worker_threads"
import { type FileError, fileError } from "@data-cabinet/core/file/FileError"
import type { ReadableFile } from "@data-cabinet/core/file/ReadableFile"
import { SheetReader, type SheetRow } from "@data-cabinet/core/file/SheetReader"
import { Cause, Effect, Layer, Queue, Stream } from "effect"
import type { SheetAnswer, SheetTask } from "./SheetTask.ts"
import { chooseSheet } from "./SheetNames.ts"
import { unpackedBytes } from "./ZipDirectory.ts"

export interface SheetLimits {
  readonly archiveBytes: number
  /** Of all parts of the archive together, as its directory says. */
  readonly unpackedBytes: number
  readonly heapMegabytes: number
  /** Until the first row, and between two batches. */
  readonly idleMillis: number
}

const LIMITS: SheetLimits = {
  archiveBytes: 128 * 1024 ** 2,
  unpackedBytes: 2 * 1024 ** 3,
  heapMegabytes: 1024,
  idleMillis: 60_000,
}

/** Batches under way to the reader. */
const CREDIT = 4

/** Beside the compiled file, or its source where sources are run. */
const WORKER = new URL(`./SheetWorker${import.meta.url.endsWith(".ts") ? ".ts" : ".js"}`, import.meta.url)

const megabytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`

const gather = Effect.fnUntraced(function* (file: ReadableFile, limit: number) {
  const tooLarge = fileError(
    "too_large",
    `A workbook may have ${megabytes(limit)}; save a larger one as CSV, which has no limit.`,
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

export const layer = (options: Partial<SheetLimits> = {}) => {
  const limits = { ...LIMITS, ...options }
  return Layer.succeed(SheetReader, {
    open: Effect.fnUntraced(function* (file, sheet) {
      const bytes = yield* gather(file, limits.archiveBytes)
      const unpacked = unpackedBytes(bytes)
      if (unpacked === null) return yield* unreadable("its directory is missing, the file was cut off")
      if (unpacked > limits.unpackedBytes) {
        return yield* fileError(
          "too_large",
          `The workbook says that it unpacks into ${megabytes(unpacked)}; at most ${megabytes(limits.unpackedBytes)} are read.`,
        )
      }
      const chosen = chooseSheet(bytes, sheet)
      if ("missing" in chosen) return yield* unreadable(chosen.missing)
      const answers = yield* Queue.unbounded<ReadonlyArray<SheetRow>, FileError | Cause.Done>()
      const credit = new Int32Array(new SharedArrayBuffer(4))
      credit[0] = CREDIT
      const task: SheetTask = { bytes, sheet: chosen.index, credit }
      const worker = yield* Effect.acquireRelease(
        Effect.sync(
          () =>
            new Worker(WORKER, {
              workerData: task,
              resourceLimits: { maxOldGenerationSizeMb: limits.heapMegabytes },
              execArgv: [],
              env: {},
            }),
        ),
        (running) => Effect.promise(() => running.terminate()),
      )
      worker.on("message", (answer: SheetAnswer) => {
        if ("rows" in answer) Queue.offerUnsafe(answers, answer.rows)
        else if ("end" in answer) Queue.endUnsafe(answers)
        else Queue.failCauseUnsafe(answers, Cause.fail(unreadable(answer.failure)))
      })
      worker.on("error", (cause) => {
        const words = "code" in cause && cause.code === "ERR_WORKER_OUT_OF_MEMORY"
        const error = words
          ? fileError(
              "too_large",
              `Reading the workbook takes more than ${limits.heapMegabytes} MB of memory; save it as CSV.`,
            )
          : unreadable(cause.message)
        Queue.failCauseUnsafe(answers, Cause.fail(error))
      })
      const next = Queue.take(answers).pipe(
        Effect.timeoutOrElse({
          duration: limits.idleMillis,
          orElse: () => Effect.fail(unreadable(`no row came for ${limits.idleMillis / 1000} s`)),
        }),
        Effect.tap(() =>
          Effect.sync(() => {
            Atomics.add(credit, 0, 1)
            Atomics.notify(credit, 0)
          }),
        ),
      )
      return { name: chosen.name, rows: Stream.fromEffectRepeat(next) }
    }),
  })
}

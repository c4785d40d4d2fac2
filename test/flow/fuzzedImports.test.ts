/**
 * Imports of mutated files, as a server runs them: each becomes events or is refused in words, within bounds of time and
 * memory. `FUZZ_ROUNDS` sets the number of mutations, `FUZZ_SEED` another sequence.
 */
import { Worker, type WorkerOptions } from "node:worker_threads"
import { Import } from "@data-cabinet/core/file/Import"
import { inPieces } from "@data-cabinet/core/file/Pieces"
import { SourceColumnStore } from "@data-cabinet/core/row/SourceColumnStore"
import { layer as archives } from "@data-cabinet/http-node/archive/NodeArchiveReader"
import { layer as sheets } from "@data-cabinet/http-node/file/WorkerSheetReader"
import { fileError } from "@data-cabinet/core/file/FileError"
import { SheetReader } from "@data-cabinet/core/file/SheetReader"
import { SheetFault } from "@data-cabinet/http-node/sheet/SheetFault"
import { Effect, Layer, ManagedRuntime, Option, Stream } from "effect"
import { assert, it } from "vitest"
import { ImportsInMemory } from "../../packages/core/test/file/ImportsInMemory.ts"
import { FUZZ_SEEDS, fuzzed, type NamedBytes } from "../support/fuzzedFiles.ts"
import { program } from "../support/program.ts"
import { random } from "../support/workbooks/damaged.ts"
import { readSheet } from "../support/workbooks/readSheet.ts"

/** In one file: from its sources, a thread takes four times as long to start, which is most of the time. */
const SHEET_WORKER = program(new URL("../../packages/http-node/src/file/SheetWorker.ts", import.meta.url))
const startWorker = (options: WorkerOptions) => new Worker(SHEET_WORKER, options)

/** Reads in this thread: starting another takes far longer than reading such a workbook. */
const inThisThread = Layer.succeed(SheetReader, {
  open: (file, wanted) =>
    Effect.gen(function* () {
      const bytes = Buffer.concat(yield* Stream.runCollect(file.bytes))
      const { sheet, empty, rows } = yield* Effect.tryPromise({
        try: () => readSheet(new Uint8Array(bytes), wanted),
        catch: (cause) => {
          if (!(cause instanceof SheetFault)) throw cause
          return fileError("unreadable", `The workbook cannot be read: ${cause.message}.`)
        },
      })
      return { name: sheet!, emptyBefore: empty, rows: Stream.make(rows) }
    }),
})

/** Every so many rounds, workbooks are read in a thread of their own, as in a server. */
const ROUNDS_IN_THREAD = 10

const ROUNDS = Number(process.env["FUZZ_ROUNDS"] ?? 300)
const SEED = Number(process.env["FUZZ_SEED"] ?? 48)

/** Far more than any of these small files takes, also on a busy machine. */
const DEADLINE = "60 seconds"
const MAX_GROWTH_BYTES = 600 * 1024 ** 2

/** Words of a program's own errors. */
const INTERNAL =
  /undefined|\[object|\bNaN\b|TypeError|RangeError|SyntaxError|Cannot read|not a function|not iterable|Unexpected|Invalid array|\.[tj]s:\d|worker/

const imported = ({ file, bytes }: NamedBytes) => {
  const all = new ImportsInMemory()
  const run = Import.use((imports) => imports.file(1, { name: file, size: bytes.length, bytes: inPieces(bytes) }, {}))
  return run.pipe(
    Effect.provide(
      Import.layer.pipe(
        Layer.provide([
          all.layer,
          Layer.succeed(SourceColumnStore, { list: () => Effect.succeed(Option.none()) } as never),
        ]),
      ),
    ),
    Effect.map((report) => ({ report, events: all.events.length })),
    Effect.result,
    Effect.timeoutOrElse({ duration: DEADLINE, orElse: () => Effect.die(new Error("the deadline has passed")) }),
  )
}

type Outcome = Effect.Success<ReturnType<typeof imported>>

/** What is wrong with an outcome; undefined if nothing is. */
const faultOf = (outcome: Outcome): string | undefined => {
  if (outcome._tag === "Failure") {
    const { message } = outcome.failure
    return message.length < 10 || INTERNAL.test(message) ? message : undefined
  }
  const { report, events } = outcome.success
  const words = [...report.refusals.map(({ reason }) => reason), ...report.doubts.map(({ message }) => message)]
  const internal = words.find((one) => one === "" || INTERNAL.test(one))
  if (internal !== undefined) return internal
  switch (report.state) {
    case "done":
      return report.refused === 0 && report.rows === events && report.accepted === events ? undefined : "rows were lost"
    case "refused":
      return report.refusals.length > 0 && report.refusals.every(({ line }) => line >= 1)
        ? undefined
        : "no place is named"
    case "unclear":
      return report.readings.length > 1 ? undefined : "no readings"
    default:
      return `it ended as ${report.state}`
  }
}

it("imports of mutated files end with events or a refusal, within bounds of time and memory", async () => {
  const runtime = ManagedRuntime.make(Layer.mergeAll(inThisThread, archives))
  const withThreads = ManagedRuntime.make(Layer.mergeAll(sheets({}, startWorker), archives))
  const next = random(SEED)
  const faults: Array<unknown> = []
  const outcomes = new Map<string, number>()
  const before = process.memoryUsage().rss
  for (let round = 0; round < ROUNDS; round++) {
    const file = fuzzed(FUZZ_SEEDS[round % FUZZ_SEEDS.length]!, next)
    const used = Math.floor(round / FUZZ_SEEDS.length) % ROUNDS_IN_THREAD === 0 ? withThreads : runtime
    const exit = await used.runPromiseExit(imported(file))
    const fault = exit._tag === "Failure" ? String(exit.cause) : faultOf(exit.value)
    if (fault !== undefined) faults.push([SEED, round, file.file, fault, file.bytes.toString("base64").slice(0, 2_000)])
    const state =
      exit._tag === "Failure"
        ? "defect"
        : exit.value._tag === "Failure"
          ? "unreadable"
          : exit.value.success.report.state
    outcomes.set(state, (outcomes.get(state) ?? 0) + 1)
    const growth = process.memoryUsage().rss - before
    assert.isBelow(growth, MAX_GROWTH_BYTES, `${file.file}, round ${round} of seed ${SEED}`)
  }
  await runtime.dispose()
  await withThreads.dispose()
  if (process.env["FUZZ_ROUNDS"] !== undefined) process.stdout.write(`seed ${SEED}: ${JSON.stringify([...outcomes])}\n`)
  assert.deepStrictEqual(faults, [])
  assert.isAbove(outcomes.get("done") ?? 0, ROUNDS / 10)
  assert.isAbove(outcomes.get("unreadable") ?? 0, ROUNDS / 10)
}, 3_600_000)

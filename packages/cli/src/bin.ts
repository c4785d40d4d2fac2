/**
 * The entry point of the command `cabinet`: arguments, signals and the exit code of the process.
 *
 * Decision: docs/decisions/0019-the-command-is-one-file.md
 */
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import { Effect, Exit } from "effect"
import { boundHeap } from "./process/Heap.ts"
import { signalExitCode, StaysUntilSignal, FastShutdown } from "./process/Signals.ts"
import { workerNumber } from "./process/Worker.ts"
import { isOurs, type ToWorker } from "./process/WorkerMessages.ts"
import { runCommand, speaksJson } from "./commands/RunCommand.ts"
import { writeNodesWordsAsJson } from "./output/JsonLines.ts"

/** Ctrl-C in a terminal may reach this process twice, from the terminal and from its parent. */
const SAME_SIGNAL_MILLIS = 500

boundHeap()
if (speaksJson(process.argv.slice(2))) writeNodesWordsAsJson()

// The reader of our output has closed it.
process.stdout.on("error", (error: NodeJS.ErrnoException) => process.exit(error.code === "EPIPE" ? 0 : 1))

let stopsFast = false
let stays = false
const fiber = Effect.runFork(
  runCommand(process.argv.slice(2), VERSION).pipe(
    Effect.provideService(FastShutdown, () => stopsFast),
    Effect.provideService(StaysUntilSignal, () => void (stays = true)),
  ),
)
const awake = setInterval(() => {}, 2_147_483_647)

let first: { readonly signal: NodeJS.Signals; readonly at: number } | undefined
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
  process.on(signal, () => {
    first ??= { signal, at: performance.now() }
    if (performance.now() - first.at > SAME_SIGNAL_MILLIS) process.exit(signalExitCode(signal))
    stopsFast = signal !== "SIGTERM"
    fiber.interruptUnsafe()
  })
}

if (workerNumber() !== null) {
  // Ctrl-C in a terminal has already reached the worker when its parent passes it on.
  process.on("message", (message) => {
    if (!isOurs(message) || message.cabinet !== "stop") return
    stopsFast = (message as Extract<ToWorker, { readonly cabinet: "stop" }>).fast
    fiber.interruptUnsafe()
  })
}

fiber.addObserver((exit) => {
  clearInterval(awake)
  const code = Exit.isSuccess(exit) ? exit.value : stays ? 0 : signalExitCode(first?.signal ?? "SIGTERM")
  process.stdout.write("", () => process.stderr.write("", () => process.exit(code)))
})

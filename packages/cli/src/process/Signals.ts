/**
 * The meaning of a signal to a command. A server or a follower runs until a signal stops it, so a signal is its normal
 * end and it exits with 0. A signal aborts any other command, which exits as shells expect: 130 for SIGINT, 143 for
 * SIGTERM. `cabinet backup FILE && rm OLD` must not continue after Ctrl-C.
 */
import { constants } from "node:os"
import { Context, Effect } from "effect"

/** True once any signal but SIGTERM has requested a stop. */
export const FastShutdown = Context.Reference<() => boolean>("data-cabinet/process/FastShutdown", {
  defaultValue: () => () => false,
})

/** Marks a signal as the normal end of the running command, for the entry point. */
export const StaysUntilSignal = Context.Reference<() => void>("data-cabinet/process/StaysUntilSignal", {
  defaultValue: () => () => {},
})

/** First step of every command that runs until a signal stops it. */
export const staysUntilSignal: Effect.Effect<void> = Effect.map(StaysUntilSignal, (note) => note())

/** The exit code of a process that a signal aborted. */
export const signalExitCode = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

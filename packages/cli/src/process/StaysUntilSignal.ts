/**
 * What a signal means to a command. A server or a follower runs until it is told to stop, so a signal is its proper end
 * and it exits with 0. Every other command was broken off, and exits as a shell expects it of a signal: 130 for SIGINT,
 * 143 for SIGTERM. `cabinet backup FILE && rm OLD` must not go on after Ctrl-C.
 */
import { constants } from "node:os"
import { Context, Effect } from "effect"

/** Tells the entry of the process that a signal is the proper end of the command that runs. */
export const StaysUntilSignal = Context.Reference<() => void>("data-cabinet/process/StaysUntilSignal", {
  defaultValue: () => () => {},
})

/** First step of every command that runs until it is told to stop. */
export const staysUntilSignal: Effect.Effect<void> = Effect.map(StaysUntilSignal, (note) => note())

/** The exit code of a process that a signal broke off. */
export const signalExitCode = (signal: NodeJS.Signals): number => 128 + constants.signals[signal]

/**
 * Runs polls when they are due, until its scope ends. Any number of these loops may run in any number of processes: only
 * one of them runs a poll at a time, and a poll whose runner was lost is run again when its lease ends.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { instrument } from "@data-cabinet/core/runtime/Instrument"
import { PollStore } from "@data-cabinet/core/poll/PollStore"
import { RunPoll } from "@data-cabinet/core/poll/RunPoll"
import { Effect, Layer, Option } from "effect"

export interface PollLoopOptions {
  /** Polls run at once. Default 4. */
  readonly runners?: number
  /** How often it checks for new polls. Default 5,000. */
  readonly checkMillis?: number
}

/** The pause after the database was unavailable, or after a fault of the loop itself. */
const RECOVER_MILLIS = 2000
const MIN_WAIT_MILLIS = 100

export const layer = (options: PollLoopOptions = {}) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const polls = yield* PollStore
      const { run } = yield* RunPoll
      const checkMillis = options.checkMillis ?? 5000
      const serve = Effect.gen(function* () {
        const claimed = yield* polls.claim(null)
        if (Option.isNone(claimed)) {
          const due = yield* polls.nextDue
          return Math.max(MIN_WAIT_MILLIS, Math.min(due ?? checkMillis, checkMillis))
        }
        yield* instrument("poll.run", run(claimed.value))
        return 0
      })
      for (let n = 0; n < (options.runners ?? 4); n++) {
        yield* background("poll loop", (wait: number) => wait, serve, { retryAfter: RECOVER_MILLIS })
      }
    }),
  )

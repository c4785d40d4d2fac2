/**
 * Builds of indexes that go on after the response: the person who started it sees its progress instead of waiting for
 * minutes. A later failure is kept for the screen until the next build of the same index begins.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Cause, Effect, Exit, Fiber, Option } from "effect"

/** How long a build may take to be waited for. */
const WAITED_FOR_MILLIS = 2_000

interface Build {
  /** Its response has been sent. */
  answered: boolean
}

export interface IndexBuilds {
  /** Waits a little; does nothing while the index of this name is being built. */
  readonly begin: <A>(
    name: string,
    build: Effect.Effect<A, ManageError | StoreUnavailable>,
  ) => Effect.Effect<void, ManageError | StoreUnavailable>
  readonly isRunning: (name: string) => boolean
  /** Why the last build failed, unless that was said in its response. */
  readonly refusal: (name: string) => ManageError | null
}

/** Builds end when the scope closes. */
export const indexBuilds = Effect.map(Effect.scope, (scope): IndexBuilds => {
  const running = new Map<string, Build>()
  const refusals = new Map<string, ManageError>()

  const ended = <A>(name: string, { answered }: Build, exit: Exit.Exit<A, ManageError | StoreUnavailable>) =>
    Effect.suspend(() => {
      running.delete(name)
      if (!answered || Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return Effect.void
      const failed = Cause.findErrorOption(exit.cause)
      refusals.set(name, Option.isSome(failed) ? manageErrorOf(failed.value) : FAULT)
      return Option.isSome(failed) ? Effect.void : Effect.logError(`The build of the index ${name} failed.`, exit.cause)
    })

  return {
    begin: (name, build) =>
      Effect.gen(function* () {
        if (running.has(name)) return
        const one: Build = { answered: false }
        running.set(name, one)
        refusals.delete(name)
        const fiber = yield* Effect.forkIn(
          Effect.onExit(build, (exit) => ended(name, one, exit)),
          scope,
        )
        const exit = yield* Effect.timeoutOption(Fiber.await(fiber), WAITED_FOR_MILLIS)
        one.answered = true
        if (Option.isSome(exit)) yield* exit.value
      }),
    isRunning: (name) => running.has(name),
    refusal: (name) => refusals.get(name) ?? null,
  }
})

const FAULT: ManageError = {
  code: "build_failed",
  message: "The index could not be created. The server's log says why.",
}

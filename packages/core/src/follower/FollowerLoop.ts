/**
 * Does the work of followers, in every serving process. Each kind is served separately, so that a failing or slow one
 * delays no other. A follower is claimed, worked slice by slice to the end of the feed, and released. A failing
 * follower keeps its position and waits for an increasing interval. Followers of a kind are served one after another, or
 * as many at once as the kind says.
 *
 * Decision: docs/decisions/0084-work-behind-the-feed-is-done-by-followers.md
 */
import { Cause, Effect, Latch, Layer, Option, type Scope, Semaphore } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { background, type TaskName } from "../runtime/Background.ts"
import { FollowerStore, type HeldFollower } from "./FollowerStore.ts"

/**
 * How a turn ended. `again`: there is more to do, after others of its kind had their turn. `lost`: another process has
 * claimed the follower since. `soon`: the end, and a short rest instead of the kind's.
 */
export type TurnEnd = "more" | "again" | "end" | "soon" | "lost"

/** A kind of follower, and its work. */
export interface FollowerKind<R> {
  readonly kind: string
  readonly task: TaskName
  /** How long a follower at the end of the feed is left alone. */
  readonly restMillis: number
  /** How often followers are looked for without a signal. */
  readonly pollMillis: number
  /** How many followers a process serves at once. Default: 1. */
  readonly atOnce?: number
  /**
   * A few seconds' work on the events after the position, which moves in the same transaction. It compares the fencing
   * token after it has locked the follower's row.
   */
  readonly turn: (held: HeldFollower) => Effect.Effect<TurnEnd, Error, R>
  /** A listener that completes when there may be something new. */
  readonly listen?: Effect.Effect<Effect.Effect<void>, never, R | Scope.Scope>
}

/** The pause between two turns while more remains: long work leaves the database to others. */
const BREATH_MILLIS = 20
/** A rest that lets others have their turn. */
const SHORT_REST_MILLIS = 1_000
/** The pause after another process was found to be at work on the follower that is due. */
const TAKEN_PAUSE_MILLIS = 1_000
/** How long a process that shuts down waits for its follower to be released. */
const LAST_RELEASE = "2 seconds"

const messageOf = (cause: Cause.Cause<unknown>): string => {
  const error = Cause.squash(cause)
  return (error instanceof Error ? error.message : String(error)).slice(0, 500)
}

/** An unavailable database is reported by everything that needs it. */
const logFailure = (message: string, cause: Cause.Cause<unknown>) =>
  Effect.logWithLevel(Cause.hasDies(cause) ? "Warn" : "Debug")(message, cause)

type Store = FollowerStore["Service"]

/** Serves a claimed follower up to the end of the feed. Returns whether it got there. */
const serve = <R>(store: Store, { kind, turn, restMillis }: FollowerKind<R>, held: HeldFollower) =>
  Effect.gen(function* () {
    let end: TurnEnd = "more"
    while (end === "more") {
      end = yield* turn(held)
      if (end === "more") yield* Effect.sleep(BREATH_MILLIS)
    }
    if (end !== "lost") yield* store.release(held, end === "end" ? restMillis : end === "soon" ? SHORT_REST_MILLIS : 0)
  }).pipe(
    Effect.onInterrupt(() => Effect.ignore(Effect.timeoutOption(store.release(held, 0), LAST_RELEASE))),
    Effect.catchCause((cause) =>
      Cause.hasInterruptsOnly(cause)
        ? Effect.failCause(cause as Cause.Cause<never>)
        : Effect.flatMap(store.fail(held, messageOf(cause)), (failures) =>
            failures === 1 ? logFailure(`follower ${kind} ${held.name} failed and waits`, cause) : Effect.void,
          ),
    ),
  )

/** Claims a follower that is due; or returns the pause until the next search. In a cabinet at rest a search is one query. */
const search = <R>(store: Store, { kind, pollMillis }: FollowerKind<R>) =>
  Effect.gen(function* () {
    const due = yield* store.nextDue(kind)
    if (due === null || due > 0) return Math.min(due ?? pollMillis, pollMillis)
    return Option.getOrElse(yield* store.claim(kind), () => TAKEN_PAUSE_MILLIS)
  })

/** One search for a follower of a kind, and its work. Returns the pause until the next. */
export const runFollower = <R>(store: Store, kind: FollowerKind<R>): Effect.Effect<number, StoreUnavailable, R> =>
  Effect.flatMap(search(store, kind), (found) =>
    typeof found === "number" ? Effect.succeed(found) : Effect.as(serve(store, kind, found), 0),
  )

/** Serves the followers of a kind until the scope ends. */
export const followerLoop = <R>(kind: FollowerKind<R>) =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const store = yield* FollowerStore
      const next = kind.listen === undefined ? Effect.never : yield* kind.listen
      // One searches for all, so that a cabinet at rest gets no more queries. A follower that was served may be due again.
      const searching = yield* Semaphore.make(1)
      const served = yield* Latch.make(false)
      const claimed = searching.withPermit(
        Effect.gen(function* () {
          yield* served.close
          const found = yield* search(store, kind)
          if (typeof found !== "number") return found
          yield* Effect.timeoutOption(Effect.raceFirst(next, served.await), found)
          return null
        }),
      )
      const run = Effect.flatMap(claimed, (held) =>
        held === null ? Effect.void : Effect.andThen(serve(store, kind, held), served.open),
      )
      for (let n = 0; n < (kind.atOnce ?? 1); n++) {
        // An unavailable database is reported by everything that needs it.
        yield* background(kind.task, () => 0, run, { retryAfter: kind.pollMillis, quiet: true })
      }
    }),
  )

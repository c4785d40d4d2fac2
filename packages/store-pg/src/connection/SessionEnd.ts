/**
 * Ends sessions by requesting their termination, and knows that a request may not suffice: a backend ends at its next
 * check for interrupts, and some functions never check (`xpath`, a trusted language other than PL/pgSQL). So a session
 * counts as ended only once it has left `pg_stat_activity`. Until then it uses a connection and a core, and the caller
 * that waits here keeps the place it occupies.
 */
import { Clock, Effect, Fiber, type Scope } from "effect"
import type { SqlError } from "effect/sql"

/**
 * $1: the process id; $2: the role, or null for any. Returns one row if there was such a session and it was signalled.
 * The call is in the select list, which is evaluated for the matching row only.
 */
export const END_SESSION = `
  SELECT pg_catalog.pg_terminate_backend(a.pid) AS ended, a.backend_start::pg_catalog.text AS since
  FROM pg_catalog.pg_stat_activity a
  WHERE a.pid OPERATOR(pg_catalog.=) $1::pg_catalog.int4 AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
    AND ($2::pg_catalog.name IS NULL OR a.usename OPERATOR(pg_catalog.=) $2::pg_catalog.name)`

/** $1: the process id; $2: when the session began, because its process id may belong to another session by now. */
export const IS_THERE = `
  SELECT 1 AS one FROM pg_catalog.pg_stat_activity a
  WHERE a.pid OPERATOR(pg_catalog.=) $1::pg_catalog.int4
    AND a.backend_start OPERATOR(pg_catalog.=) $2::pg_catalog.timestamptz`

/** Runs one statement on the sessions' server, and returns its rows' values. */
export type Ask = (
  statement: string,
  values: ReadonlyArray<string | null>,
) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>

/** The pauses between two checks, in milliseconds: the last one repeats. */
const PAUSES = [20, 50, 100, 200, 300, 500, 1_000]

/** After this many milliseconds the log says that a session is still running. */
const OUTLIVED_MILLIS = 2_000

export interface EndedSession {
  readonly pid: number
  readonly role: string | null
  /** Its work, for the log: `a read of "public"."v"`. */
  readonly work: string
  /** True if a session that ends at once is not to be logged. */
  readonly isExpected?: boolean
  /** Called once PostgreSQL has confirmed the request. */
  readonly onAsked?: () => void
}

/**
 * Makes PostgreSQL terminate a session and returns once it has left. A missing session counts as left. The caller
 * decides about a failure to request or check.
 */
export const endSession = Effect.fnUntraced(function* (
  ask: Ask,
  { pid, role, work, isExpected, onAsked }: EndedSession,
) {
  const [found] = yield* ask(END_SESSION, [String(pid), role])
  if (found?.[0] !== true) return
  onAsked?.()
  const since = String(found[1])
  const began = yield* Clock.currentTimeMillis
  let isSaid = false
  for (let look = 0; ; look++) {
    yield* Effect.sleep(PAUSES[Math.min(look, PAUSES.length - 1)]!)
    const left = (yield* ask(IS_THERE, [String(pid), since])).length === 0
    const millis = (yield* Clock.currentTimeMillis) - began
    if (left && isExpected === true && !isSaid) return
    if (left) return yield* Effect.logWarning(isSaid ? hasEnded(work, pid, millis) : wasTerminated(work))
    if (isSaid || millis < OUTLIVED_MILLIS) continue
    isSaid = true
    yield* Effect.logWarning(runsOn(work, pid))
  }
})

const wasTerminated = (work: string) => `${work} did not end in time: its session was terminated`

const runsOn = (work: string, pid: number) =>
  `${work} does not end: PostgreSQL was asked to terminate its session (process ${pid}), which runs on and keeps its place until it ends`

const hasEnded = (work: string, pid: number, millis: number) =>
  `${work} has ended ${Math.round(millis / 1000)} s after PostgreSQL was asked to terminate its session (process ${pid})`

/** The sessions of one server that are being ended: each once, however many wait for it. Closing its scope ends the waiting. */
export class SessionEnds {
  readonly #scope: Scope.Scope
  readonly #ending = new Map<number, Fiber.Fiber<void>>()
  /** The work of sessions that are still running despite the request. */
  readonly #outliving = new Map<string, number>()

  static readonly make = Effect.map(Effect.scope, (scope) => new SessionEnds(scope))

  private constructor(scope: Scope.Scope) {
    this.#scope = scope
  }

  /** Whether a session with this work is still running although its termination was requested. */
  isOutlived(work: string): boolean {
    return this.#outliving.has(work)
  }

  /** `end` ends the session and waits until it has left. It is begun once, and never fails. */
  end(pid: number, work: string, end: (onAsked: () => void) => Effect.Effect<void>): Effect.Effect<void> {
    return Effect.suspend(() => {
      const known = this.#ending.get(pid)
      if (known !== undefined) return Effect.asVoid(Fiber.await(known))
      let isCounted = false
      const count = () => {
        isCounted = true
        this.#outliving.set(work, (this.#outliving.get(work) ?? 0) + 1)
      }
      const ended = Effect.sync(() => {
        if (!isCounted) return
        const left = this.#outliving.get(work)! - 1
        if (left === 0) this.#outliving.delete(work)
        else this.#outliving.set(work, left)
      })
      return Effect.flatMap(Effect.forkIn(Effect.ensuring(end(count), ended), this.#scope), (fiber) => {
        this.#ending.set(pid, fiber)
        fiber.addObserver(() => this.#ending.delete(pid))
        return Effect.asVoid(Fiber.await(fiber))
      })
    })
  }
}

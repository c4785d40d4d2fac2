/**
 * Knows which sessions of a pool are idle, so that they can be closed when another pool of the process needs a connection;
 * and tries again when the server admits no more sessions, after the process has given back its idle ones.
 */
import type { PgConnection, PgPool } from "@effect/sql-pg"
import { Effect, Schedule, type Scope } from "effect"
import { SqlError } from "effect/sql"
import type { ConnectionShare } from "./ConnectionShare.ts"
import { sqlState } from "./SqlState.ts"

type Session = PgConnection.PgConnection

export interface SessionLeases {
  readonly use: <A, E, R>(
    work: (session: Session) => Effect.Effect<A, E, R>,
  ) => Effect.Effect<A, E | SqlError.SqlError, R>
  readonly get: Effect.Effect<Session, SqlError.SqlError, Scope.Scope>
}

const TOO_MANY = "53300"

/** Three more attempts within a second: a session that is given back takes a moment to end. */
const ATTEMPTS = { times: 3, schedule: Schedule.exponential("100 millis") }

/** Whether the server, or a limit of the role or the database, admits no further session. */
export const isFull = (error: unknown): boolean =>
  SqlError.isSqlError(error) && error.reason.operation === "connect" && sqlState(error) === TOO_MANY

/** Repeats what failed to open a session because the server is full; `mayRepeat` is false once there was a session. */
export const retryIfFull =
  (share: ConnectionShare, mayRepeat: () => boolean = () => true) =>
  <A, E, R>(open: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.retry(
      Effect.tapError(open, (error) => Effect.sync(() => void (isFull(error) && share.refused()))),
      { ...ATTEMPTS, while: (error: E) => mayRepeat() && isFull(error) },
    )

/** `idle`: the most sessions that are known to be idle; 0 for a pool that gives none back. */
export const sessionLeases = Effect.fnUntraced(function* (
  pool: PgPool.PgPool,
  share: ConnectionShare,
  idle: number,
): Effect.fn.Return<SessionLeases, never, Scope.Scope> {
  const run = Effect.runForkWith(yield* Effect.context())
  const leases = new Map<Session, number>()
  /** In the order of their last use. Lost ones are among them until there are too many. */
  const free = new Set<Session>()

  const close = (session: Session): void => {
    free.delete(session)
    leases.delete(session)
    run(pool.invalidate(session))
  }
  const lease = (session: Session): void => {
    free.delete(session)
    leases.set(session, (leases.get(session) ?? 0) + 1)
  }
  const release = (session: Session): void => {
    const left = leases.get(session)! - 1
    if (left > 0) return void leases.set(session, left)
    if (share.isShort) return close(session)
    leases.delete(session)
    free.add(session)
    if (free.size > idle) free.delete(free.values().next().value!)
  }
  const giveBack = (): boolean => {
    const [session] = free
    if (session !== undefined) close(session)
    return session !== undefined
  }
  if (idle > 0) {
    const leave = share.join(giveBack)
    yield* Effect.addFinalizer(() => Effect.sync(leave))
  }

  const given = Effect.andThen(
    Effect.sync(() => share.refused()),
    Effect.sleep("50 millis"),
  )
  const leased = <A, E, R>(session: Session, work: (session: Session) => Effect.Effect<A, E, R>) => {
    lease(session)
    return Effect.onExit(work(session), () => Effect.sync(() => release(session)))
  }
  const use: SessionLeases["use"] = (work) =>
    Effect.suspend(() => {
      let hasSession = false
      const once = pool.use((session) => {
        hasSession = true
        return leased(session, work)
      })
      // Work that has begun is never repeated, whatever its failure.
      return once.pipe(
        Effect.catch((error) =>
          hasSession || !isFull(error)
            ? Effect.fail(error)
            : retryIfFull(share, () => !hasSession)(Effect.andThen(given, once)),
        ),
      )
    })
  const get = Effect.acquireRelease(
    Effect.tap(retryIfFull(share)(pool.get), (session) => Effect.sync(() => lease(session))),
    (session) => Effect.sync(() => release(session)),
    { interruptible: true },
  )
  return { use, get }
})

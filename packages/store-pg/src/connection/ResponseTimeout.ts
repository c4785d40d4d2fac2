/**
 * When a database that says nothing is taken for gone. A machine that loses its power or its network says no farewell: what
 * was sent to it is never answered, and the system would wait a quarter of an hour before it calls the connection lost,
 * long after another machine has taken over under the same name. A slow database says as little as one that is gone, so
 * whoever has waited for some time asks on a connection newly opened: is anybody at work for these sessions? If nobody is,
 * nobody will answer. What was under way then has an outcome that is not known, and is not sent again.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import type { SessionGroup } from "./SessionGroup.ts"
import { connectionLossAsError, sqlState } from "./StoreFailure.ts"

/** From so many milliseconds on without an answer, it is asked about. Nearly all that is asked takes a few. */
export const SUSPECT_MILLIS = 3_000

/** How long opening a connection may take. Short, for one begun just before a database is back is not answered either. */
export const CONNECT_TIMEOUT = "3 seconds"

/** No question about other sessions takes longer, its connection included, in milliseconds. */
const PROBE_MILLIS = 2_000

/** Between two looks that must agree: an answer may be on its way. */
const CONFIRM_DELAY = "500 millis"

/** Longer than the database's own limit for a statement, in milliseconds: it would have said so. */
const STATEMENT_TIMEOUT_MILLIS = 40_000

/** After so many milliseconds sessions of a database that cannot be asked are let go: nobody waits for them any more. */
const UNREACHABLE_MILLIS = 10_000

/**
 * Whether a session of the group is being worked for. One that waits for its client has said, or taken, all that it could:
 * whatever this side still waits for is lost on the way.
 */
const AT_WORK = `
SELECT pg_catalog.count(*)::int4 AS at_work FROM pg_catalog.pg_stat_activity
WHERE application_name = $1 AND usename = CURRENT_USER AND state <> 'idle' AND (state <> 'active' OR wait_event_type IS DISTINCT FROM 'Client')`

/** Opens a pool of one connection on the sockets of a group. */
export type OpenPool = (group: SessionGroup) => Layer.Layer<PgClient.PgClient, SqlError.SqlError>

/** Fails as a lost connection does once the work has taken too long. The group must be the work's own. */
export const cutAfter =
  (millis: number, group: SessionGroup) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.suspend(() => {
      const timer = setTimeout(() => group.cut(), millis)
      return Effect.ensuring(
        work,
        Effect.sync(() => clearTimeout(timer)),
      )
    })

/** Sessions that may have fallen silent. */
export interface Suspect {
  readonly group: SessionGroup
  /** A group of its own for each question about it, and how a connection is opened on that. */
  readonly probe: () => SessionGroup
  readonly open: OpenPool
  /** Whether nothing of it can be at work for longer than the database's own limit for a statement. */
  readonly isLimited: boolean
}

/** How many of its sessions are being worked for, or that the database refuses to be asked, or says nothing. */
const sessionsAtWork = ({ group, probe, open }: Suspect): Effect.Effect<number | "refused" | "unreachable"> =>
  Effect.suspend(() => {
    const own = probe()
    return Effect.gen(function* () {
      const sql = Context.get(yield* Layer.build(Layer.fresh(open(own))), PgClient.PgClient)
      const [row] = yield* sql.unsafe<{ readonly at_work: number }>(AT_WORK, [group.applicationName])
      return row!.at_work
    }).pipe(
      Effect.scoped,
      cutAfter(PROBE_MILLIS, own),
      connectionLossAsError,
      Effect.catchTag("SqlError", (error) =>
        Effect.succeed(sqlState(error) === undefined ? ("unreachable" as const) : ("refused" as const)),
      ),
    )
  })

/** What was found: they were cut off, or the database is at work for them, or it cannot be asked, or it has answered meanwhile. */
export type Finding = "cut" | "at work" | "unreachable" | "answered"

/**
 * Cuts the sessions off if nobody will answer them any more. `owedSince` is since when they owe an answer, by Effect's clock in
 * milliseconds, or null once they do not; it stays the same for as long as nothing is answered. 0: whether they do is not known.
 */
export const closeIfUnresponsive = Effect.fnUntraced(function* (
  suspect: Suspect,
  owedSince: () => number | null,
): Effect.fn.Return<Finding> {
  const began = performance.now()
  const since = owedSince()
  if (since === null) return "answered"
  const owedFor = Effect.map(Clock.currentTimeMillis, (now) => now - since)
  const first = yield* sessionsAtWork(suspect)
  if (first === "unreachable") {
    if ((yield* owedFor) < UNREACHABLE_MILLIS) return "unreachable"
  } else if (first !== 0) {
    if (!suspect.isLimited || since === 0 || (yield* owedFor) < STATEMENT_TIMEOUT_MILLIS) return "at work"
  } else {
    yield* Effect.sleep(CONFIRM_DELAY)
    const second = yield* sessionsAtWork(suspect)
    if (second === "unreachable") return "unreachable"
    if (second !== 0) return "at work"
  }
  if (owedSince() !== since) return "answered"
  return suspect.group.cut(began) > 0 ? "cut" : "answered"
})

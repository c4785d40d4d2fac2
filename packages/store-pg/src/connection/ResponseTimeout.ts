/**
 * Decides when an unresponsive database counts as lost. A machine that loses its power or its network closes no
 * connection: its requests never get a response, and the system would wait a quarter of an hour before it reports the
 * connection as lost, long after another machine has taken over under the same name. A slow database is as silent as a
 * lost one. So after some time a probe on a new connection checks whether any backend is working for these sessions. If
 * none is, no response will come. The outcome of statements in flight is then unknown, and they are not sent again.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import type { SessionGroup } from "./SessionGroup.ts"
import { connectionLossAsError, sqlState } from "./StoreFailure.ts"

/** Milliseconds without a response after which the database is probed. Nearly all requests take a few. */
export const SUSPECT_MILLIS = 3_000

/**
 * Time limit for opening a connection. Short, because an attempt begun just before the database is back gets no response
 * either.
 */
export const CONNECT_TIMEOUT = "3 seconds"

/** Time limit of a probe of other sessions, including its connection, in milliseconds. */
const PROBE_MILLIS = 2_000

/** The pause between two probes that must agree: a response may be on its way. */
const CONFIRM_DELAY = "500 millis"

/** Longer than the database's own statement timeout, in milliseconds: it would have reported one by then. */
const STATEMENT_TIMEOUT_MILLIS = 40_000

/**
 * Milliseconds after which the sessions of a database that cannot be probed are closed: no caller waits for them any
 * more.
 */
const UNREACHABLE_MILLIS = 10_000

/**
 * How many backends are working for sessions of the group, and how many of them wait for a standby to confirm a commit.
 * A backend that waits for its client has sent and received everything: a response that this side still waits for was
 * lost on the way.
 */
const AT_WORK = `
SELECT pg_catalog.count(*)::int4 AS at_work,
       (pg_catalog.count(*) FILTER (WHERE wait_event = 'SyncRep'))::int4 AS unconfirmed
FROM pg_catalog.pg_stat_activity
WHERE application_name = $1 AND usename = CURRENT_USER AND state <> 'idle' AND (state <> 'active' OR wait_event_type IS DISTINCT FROM 'Client')`

interface AtWork {
  readonly at_work: number
  readonly unconfirmed: number
}

/** Opens a pool of one connection on the sockets of a group. */
export type OpenPool = (group: SessionGroup) => Layer.Layer<PgClient.PgClient, SqlError.SqlError>

/** Fails like a lost connection once the work has taken too long. The group must belong to this work alone. */
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

/** Sessions that may have become unresponsive. */
export interface Suspect {
  readonly group: SessionGroup
  /** Creates a separate group for each probe, and opens a connection on it. */
  readonly probe: () => SessionGroup
  readonly open: OpenPool
  /** Whether nothing in it can run for longer than the database's own statement timeout. */
  readonly isLimited: boolean
  /** Looks for another server of the URL, if it names several; the sessions end once one is found. */
  readonly searchElsewhere: Effect.Effect<void>
}

/** Counts its sessions with a working backend; or reports that the database refuses the probe, or does not respond. */
const sessionsAtWork = ({ group, probe, open }: Suspect): Effect.Effect<AtWork | "refused" | "unreachable"> =>
  Effect.suspend(() => {
    const own = probe()
    return Effect.gen(function* () {
      const sql = Context.get(yield* Layer.build(Layer.fresh(open(own))), PgClient.PgClient)
      const [row] = yield* sql.unsafe<AtWork>(AT_WORK, [group.applicationName])
      return row!
    }).pipe(
      Effect.scoped,
      cutAfter(PROBE_MILLIS, own),
      connectionLossAsError,
      Effect.catchTag("SqlError", (error) =>
        Effect.succeed(sqlState(error) === undefined ? ("unreachable" as const) : ("refused" as const)),
      ),
    )
  })

/** A database that refuses the probe may still be working. */
const isAtWork = (found: AtWork | "refused"): boolean => found === "refused" || found.at_work > 0

/**
 * The result: the sessions were cut, the database is working for them, it cannot be probed, or it has responded
 * meanwhile.
 */
export type Finding = "cut" | "at work" | "unreachable" | "responded"

/**
 * Cuts the sessions if no response will come. `owedSince` returns since when a response is owed, by Effect's clock in
 * milliseconds, or null once none is; it does not change until a response arrives. 0 means that it is not known whether
 * one is owed.
 */
export const closeIfUnresponsive = Effect.fnUntraced(function* (
  suspect: Suspect,
  owedSince: () => number | null,
): Effect.fn.Return<Finding> {
  const began = performance.now()
  const since = owedSince()
  if (since === null) return "responded"
  const owedFor = Effect.map(Clock.currentTimeMillis, (now) => now - since)
  const first = yield* sessionsAtWork(suspect)
  if (first === "unreachable") {
    if ((yield* owedFor) < UNREACHABLE_MILLIS) return "unreachable"
  } else if (isAtWork(first)) {
    if (since === 0 || (yield* owedFor) < STATEMENT_TIMEOUT_MILLIS) return "at work"
    // Only a standby is missing. A new session would wait for it as well, and the old backend would stay.
    const isUnconfirmed = first !== "refused" && first.unconfirmed === first.at_work
    if (isUnconfirmed) yield* suspect.searchElsewhere
    if (isUnconfirmed || !suspect.isLimited) return "at work"
  } else {
    yield* Effect.sleep(CONFIRM_DELAY)
    const second = yield* sessionsAtWork(suspect)
    if (second === "unreachable") return "unreachable"
    if (isAtWork(second)) return "at work"
  }
  if (owedSince() !== since) return "responded"
  return suspect.group.cut(began) > 0 ? "cut" : "responded"
})

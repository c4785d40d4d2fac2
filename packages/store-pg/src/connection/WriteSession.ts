/**
 * The sessions that write events. Each is newly opened and never lent again, so that no writer gets one whose server went
 * away while it was idle. The end of a session is noticed when it happens, not on next use.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Latch, Layer, Result, type Scope } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { ConnectionShare } from "./ConnectionShare.ts"
import { parseDatabaseUrl } from "./DatabaseUrl.ts"
import { routeOf } from "./ServerRoute.ts"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import { cutAfter, type OpenPool, type Suspect, SUSPECT_MILLIS } from "./ResponseTimeout.ts"
import type { ResponseWatch } from "./ResponseWatch.ts"

/** The session that a writer waits for: its own, or one of the pool that creates the tables' columns. */
export type WaitsFor = "session" | "pool"

/** One writer's session. */
export interface WriteSession {
  readonly connection: SqlConnection.Connection
  readonly isClosed: () => boolean
  /** Whether one of its commits was made visible although no standby may have it (see UnconfirmedCommit). */
  readonly isUnconfirmed: () => boolean
  /**
   * Declares the session that the writer waits for from now on; null for none. An unresponsive database is noticed only
   * this way.
   */
  readonly waits: (what: WaitsFor | null) => void
  /** The last declared value. */
  readonly waitsFor: () => WaitsFor | null
}

/** Why the last events could not be written, if no new session helps; null while they can be. */
export interface LastWriteFailure {
  words: string | null
}

export class WriteSessions extends Context.Service<
  WriteSessions,
  {
    readonly trouble: LastWriteFailure
    /** Fails like a lost connection if the database does not respond. `closed` is called once the session has closed. */
    readonly open: (
      opening: (connection: SqlConnection.Connection) => Effect.Effect<unknown, SqlError.SqlError>,
      closed: () => void,
    ) => Effect.Effect<WriteSession, SqlError.SqlError, Scope.Scope>
    /** How many connections this process may hold. */
    readonly share: ConnectionShare
    /**
     * Closes all sessions, including those being opened. A writer is not interrupted first, because the driver would
     * cancel its statement, which may be about to commit (see Uncancelled).
     */
    readonly cut: Effect.Effect<void>
  }
>()("@data-cabinet/store-pg/connection/WriteSession") {}

/** Time limit for opening a session, in milliseconds. */
const OPENING_MILLIS = 4_000

const CHECK_INTERVAL = "500 millis"

/** The pause after sessions were found at work: a statement within the database's own limit is not unresponsive. */
const PAUSE = "3 seconds"

interface Options {
  /** The URL of the database. */
  readonly url: string
  readonly applicationName: string
  readonly watch: ResponseWatch["Service"]
  /** The pool that is checked when a writer waits for it. */
  readonly pool: Suspect
  /** A pool of one session; `unconfirmed` is called as in SessionPool. */
  readonly connect: (group: SessionGroup, unconfirmed: () => void) => ReturnType<OpenPool>
}

export const writeSessions = ({ url, applicationName, watch, pool, connect }: Options): WriteSessions["Service"] => {
  const groups = new Set<SessionGroup>()
  const open: WriteSessions["Service"]["open"] = Effect.fnUntraced(function* (opening, closed) {
    let isClosed = false
    let isUnconfirmed = false
    let waiting: { readonly what: WaitsFor; readonly since: number } | null = null
    const clock = yield* Clock.Clock
    const busy = Latch.makeUnsafe(false)
    const whenClosed = () => {
      isClosed = true
      closed()
    }
    const group: SessionGroup = sessionGroup(url, `${applicationName} writer`, { closed: whenClosed })
    yield* Effect.acquireRelease(
      Effect.sync(() => groups.add(group)),
      () => Effect.sync(() => groups.delete(group)),
    )
    const connection = yield* Effect.gen(function* () {
      const sql = Context.get(
        yield* Layer.build(Layer.fresh(connect(group, () => (isUnconfirmed = true)))),
        PgClient.PgClient,
      )
      const reserved = yield* sql.reserve
      yield* opening(reserved)
      return reserved
    }).pipe(cutAfter(OPENING_MILLIS, group))

    const since = (what: WaitsFor) => () => (waiting?.what === what ? waiting.since : null)
    const own: Suspect = { ...pool, group, isLimited: true }
    yield* watch.join(own, () => waiting?.since ?? 0)
    yield* Effect.gen(function* () {
      yield* busy.await
      yield* Effect.sleep(CHECK_INTERVAL)
      if (waiting === null) return void busy.closeUnsafe()
      if (clock.currentTimeMillisUnsafe() - waiting.since < SUSPECT_MILLIS) return
      const { what } = waiting
      const finding = yield* watch.look(what === "session" ? own : pool, since(what))
      if (finding === "at work") yield* Effect.sleep(PAUSE)
    }).pipe(Effect.forever, Effect.forkScoped)

    return {
      connection,
      isClosed: () => isClosed,
      isUnconfirmed: () => isUnconfirmed,
      waitsFor: () => waiting?.what ?? null,
      waits: (what) => {
        waiting = what === null ? null : { what, since: clock.currentTimeMillisUnsafe() }
        if (what !== null) busy.openUnsafe()
      },
    }
  })
  const cut = Effect.sync(() => {
    for (const group of groups) group.cut()
  })
  const parsed = parseDatabaseUrl(url)
  const share = Result.isFailure(parsed) ? new ConnectionShare() : routeOf(parsed.success).share
  return { trouble: { words: null }, share, open, cut }
}

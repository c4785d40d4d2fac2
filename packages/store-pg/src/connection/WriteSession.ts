/**
 * Sessions that events are written on: each of its own, newly opened and never lent again, so that no writer is given one
 * whose server went while it stood idle. Its end is noticed when it comes and not when it is next used.
 */
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Latch, Layer, type Scope } from "effect"
import type { SqlConnection, SqlError } from "effect/sql"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import { cutAfter, type Suspect, SUSPECT_MILLIS } from "./ResponseTimeout.ts"
import type { ResponseWatch } from "./ResponseWatch.ts"

/** What a writer waits for: its own session, or one of the pool that the tables' columns are made with. */
export type WaitsFor = "session" | "pool"

/** One writer's session. */
export interface WriteSession {
  readonly connection: SqlConnection.Connection
  readonly isClosed: () => boolean
  /** Says what the writer waits for from now on; null for nothing. A database that is silent is noticed only so. */
  readonly waits: (what: WaitsFor | null) => void
  /** As last said. */
  readonly waitsFor: () => WaitsFor | null
}

/** Why the last events could not be written, where no new session helps; null while they can be. */
export interface WriteTrouble {
  words: string | null
}

export class WriteSessions extends Context.Service<
  WriteSessions,
  {
    readonly trouble: WriteTrouble
    /** Fails as a lost connection does where the database does not answer. `closed` is called once the session is. */
    readonly open: (
      opening: (connection: SqlConnection.Connection) => Effect.Effect<unknown, SqlError.SqlError>,
      closed: () => void,
    ) => Effect.Effect<WriteSession, SqlError.SqlError, Scope.Scope>
  }
>()("@data-cabinet/store-pg/connection/WriteSession") {}

/** Nothing that opens a session takes longer, in milliseconds. */
const OPENING_MILLIS = 4_000

const CHECK_INTERVAL = "500 millis"

/** After sessions were found at work: a statement of the database's own limit is no silence. */
const PAUSE = "3 seconds"

interface Options {
  /** The address of the database. */
  readonly url: string
  readonly applicationName: string
  readonly watch: ResponseWatch["Service"]
  /** The pool that is looked at when a writer waits for it. */
  readonly pool: Suspect
}

export const writeSessions = ({ url, applicationName, watch, pool }: Options): WriteSessions["Service"] => ({
  trouble: { words: null },
  open: Effect.fnUntraced(function* (opening, closed) {
    let isClosed = false
    let waiting: { readonly what: WaitsFor; readonly since: number } | null = null
    const clock = yield* Clock.Clock
    const busy = Latch.makeUnsafe(false)
    const group: SessionGroup = sessionGroup(url, `${applicationName} writer`, () => {
      isClosed = true
      closed()
    })
    const connection = yield* Effect.gen(function* () {
      const sql = Context.get(yield* Layer.build(Layer.fresh(pool.open(group))), PgClient.PgClient)
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
      waitsFor: () => waiting?.what ?? null,
      waits: (what) => {
        waiting = what === null ? null : { what, since: clock.currentTimeMillisUnsafe() }
        if (what !== null) busy.openUnsafe()
      },
    }
  }),
})

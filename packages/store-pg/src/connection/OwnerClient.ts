/**
 * The owner's connections. `PgClient` lends whole sessions, for transactions and listening. `StatementClient` shares its
 * few sessions between all fibers, for the single short statements of every request. They are two pools because a session
 * of a shared pool that is reserved for long may already have another fiber's statement queued behind it (observed with
 * @effect/sql-pg 4.0.5). `WriteSessions` opens a session for each writer of events, and `FeedSessions` lends the sessions that
 * pages of the feed are read in.
 *
 * Decision: docs/decisions/0014-session-pools.md
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { connectionOf } from "./Connection.ts"
import { rawTypes } from "./RawTypes.ts"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import * as SessionPool from "./SessionPool.ts"
import * as SessionSettings from "./SessionSettings.ts"
import { CONNECT_TIMEOUT, type Suspect } from "./ResponseTimeout.ts"
import { ResponseWatch } from "./ResponseWatch.ts"
import { type Watched, watchResponses, statementPool, type Statements } from "./StatementPool.ts"
import { Wires } from "./Wires.ts"
import { writeSessions, WriteSessions } from "./WriteSession.ts"

export interface OwnerOptions {
  /** `postgres://user:password@host:port/database`, or with a percent-encoded socket directory as the host. */
  readonly url: string
  readonly maxConnections?: number
  readonly applicationName?: string
}

/** Runs single statements of many fibers, pipelined. They cannot be cancelled, and transactions are not possible. */
export class StatementClient extends Context.Service<StatementClient, Statements>()(
  "@data-cabinet/store-pg/connection/StatementClient",
) {}

/** Lends whole sessions that are also read without the driver. */
export class FeedSessions extends Context.Service<
  FeedSessions,
  SessionPool.LentSessions & {
    /** While this runs, an unresponsive database is detected. */
    readonly owed: Watched
  }
>()("@data-cabinet/store-pg/connection/FeedSessions") {}

/**
 * A page takes three statements, one after the other, and on a busy machine its session mostly waits for this process to
 * send the next one: there four sessions read 1.7 times as many pages as two, for less CPU each (docs/lab-notes/feed.md).
 */
const FEED_SESSIONS = 4

const poolOf = (
  { url }: OwnerOptions,
  group: SessionGroup,
  maxConnections: number,
): Omit<SessionPool.SessionPoolOptions, "settings"> => ({
  url,
  stream: group.stream,
  isCounted: group.isCounted,
  maxConnections,
  idleTimeout: "60 seconds",
  connectTimeout: CONNECT_TIMEOUT,
  applicationName: group.applicationName,
})

const pool = (
  options: OwnerOptions,
  group: SessionGroup,
  maxConnections: number,
  {
    multiplex = false,
    ...more
  }: Pick<SessionPool.SessionPoolOptions, "multiplex" | "types" | "overdue" | "unconfirmed"> = {},
) =>
  SessionPool.layer({
    ...poolOf(options, group, maxConnections),
    ...more,
    multiplex,
    settings: multiplex ? SessionSettings.ownerShared : SessionSettings.owner,
  })

/** Looks for another server of the URL while sessions on the current one are kept. */
const elsewhere = (url: string): Effect.Effect<void> =>
  connectionOf(url).pipe(
    Effect.flatMap(({ route, settled }) => {
      route.doubt()
      return settled
    }),
    Effect.ignore,
  )

const feedSessions = Effect.fnUntraced(function* (
  options: OwnerOptions,
  suspect: Suspect,
  watch: ResponseWatch["Service"],
) {
  const { group } = suspect
  const wires = new Wires(group)
  const sessions = yield* SessionPool.lentSessions({
    ...poolOf(options, group, FEED_SESSIONS),
    wires,
    settings: SessionSettings.ownerShared,
  })
  yield* watch.join(suspect)
  const ping = sessions.use((session) => session.query("SELECT 1"))
  const owed = yield* watchResponses(ping, (owedSince) => watch.look(suspect, owedSince))
  return FeedSessions.of({ ...sessions, owed })
})

export const layer = (options: OwnerOptions) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { url, applicationName = "data-cabinet", maxConnections = 8 } = options
      const searchElsewhere = elsewhere(url)
      const waitsForTurn = true
      const suspect = (group: SessionGroup, isLimited: boolean): Suspect => ({
        group,
        isLimited,
        probe: () => sessionGroup(url, `${applicationName} probe`),
        open: (own) => pool(options, own, 1),
        searchElsewhere,
      })
      const lent = suspect(sessionGroup(url, applicationName, { waitsForTurn }), false)
      const shared = suspect(sessionGroup(url, `${applicationName} shared`, { waitsForTurn }), true)
      const watch = yield* ResponseWatch.make
      const overdue = (owedSince: () => number | null) => watch.look(lent, owedSince)
      const built = yield* Layer.build(Layer.fresh(pool(options, lent.group, maxConnections, { overdue })))
      // Nothing waits for the statements still in flight any more, but a pool waits for its sessions.
      yield* Effect.addFinalizer(() => Effect.sync(() => lent.group.cut()))
      const multiplexed = pool(options, shared.group, 2, { multiplex: true, types: rawTypes() })
      const statements = yield* Layer.build(Layer.fresh(multiplexed))
      yield* watch.join(lent)
      yield* watch.join(shared)
      const client = yield* statementPool(Context.get(statements, PgClient.PgClient), (owedSince) =>
        watch.look(shared, owedSince),
      )
      const connect = (group: SessionGroup, unconfirmed: () => void) => pool(options, group, 1, { unconfirmed })
      const feed = suspect(sessionGroup(url, `${applicationName} feed`, { waitsForTurn }), true)
      return built.pipe(
        Context.add(FeedSessions, yield* feedSessions(options, feed, watch)),
        Context.add(ResponseWatch, watch),
        Context.add(StatementClient, client),
        Context.add(WriteSessions, writeSessions({ url, applicationName, watch, pool: lent, connect })),
      )
    }),
  )

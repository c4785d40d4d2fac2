/**
 * The owner's connections. `PgClient` lends a whole session: for transactions and listening. `StatementClient` shares its
 * few sessions between all fibers: for the single short statements of every request. They are two pools because a session
 * of a shared one that is reserved for long can already have another fiber's statement waiting behind it (met with
 * @effect/sql-pg 4.0.5). `WriteSessions` opens a session for each writer of events.
 *
 * The search path holds nothing but the system's own schema, so that no object a customer makes can stand in for one
 * that we mean.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer, Redacted } from "effect"
import { passingThrough } from "./PassedThrough.ts"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import { CONNECT, type Suspect } from "./Silence.ts"
import { SilenceWatch } from "./SilenceWatch.ts"
import { statementPool, type Statements } from "./StatementPool.ts"
import { writeSessions, WriteSessions } from "./WriteSession.ts"

export interface OwnerOptions {
  /** `postgres://user:password@host:port/database`, or with a socket directory percent-encoded as the host. */
  readonly url: string
  readonly maxConnections?: number
  readonly applicationName?: string
}

/** Session settings that every connection of ours begins with. */
export const SESSION = {
  timezone: "UTC",
  datestyle: "ISO, YMD",
  intervalstyle: "postgres",
  extra_float_digits: "1",
  bytea_output: "hex",
  standard_conforming_strings: "on",
  client_min_messages: "warning",
  // Compiling one of our statements was measured to take 80 ms, its run 1 ms.
  jit: "off",
} as const

/**
 * The search path of every session of the owner: what is not qualified is PostgreSQL's own. Temporary objects are named
 * because they would come first otherwise.
 */
export const OWNER_PATH = "pg_catalog, pg_temp"

/** Single statements of many fibers, pipelined. They cannot be cancelled, and a transaction is not for it. */
export class StatementClient extends Context.Service<StatementClient, Statements>()(
  "@data-cabinet/store-pg/connection/StatementClient",
) {}

const pool = ({ url }: OwnerOptions, group: SessionGroup, maxConnections: number, multiplex: boolean) =>
  PgClient.layer({
    url: Redacted.make(url),
    stream: group.stream,
    maxConnections,
    multiplex,
    ...(multiplex ? { types: passingThrough() } : {}),
    idleTimeout: "60 seconds",
    connectTimeout: CONNECT,
    applicationName: group.applicationName,
    startupParameters: {
      ...SESSION,
      search_path: OWNER_PATH,
      // A plan is kept from when its tables were small, and a whole table read for each row that is looked up, until the
      // next ANALYZE. Our own statements have an index for whatever may grow.
      enable_seqscan: "off",
      // The few statements of the shared sessions have one good plan each: making it anew is a tenth of a page of the feed.
      ...(multiplex ? { plan_cache_mode: "force_generic_plan" } : {}),
      statement_timeout: "30000",
      lock_timeout: "5000",
      idle_in_transaction_session_timeout: "60000",
    },
  })

export const layer = (options: OwnerOptions) =>
  Layer.effectContext(
    Effect.gen(function* () {
      const { url, applicationName = "data-cabinet", maxConnections = 8 } = options
      const suspect = (group: SessionGroup, isLimited: boolean): Suspect => ({
        group,
        isLimited,
        probe: () => sessionGroup(url, `${applicationName} probe`),
        open: (own) => pool(options, own, 1, false),
      })
      const lent = suspect(sessionGroup(url, applicationName), false)
      const shared = suspect(sessionGroup(url, `${applicationName} shared`), true)
      const built = yield* Layer.build(Layer.fresh(pool(options, lent.group, maxConnections, false)))
      const statements = yield* Layer.build(Layer.fresh(pool(options, shared.group, 2, true)))
      const watch = yield* SilenceWatch.make
      yield* watch.join(lent)
      yield* watch.join(shared)
      const client = yield* statementPool(Context.get(statements, PgClient.PgClient), (owedSince) =>
        watch.look(shared, owedSince),
      )
      return built.pipe(
        Context.add(SilenceWatch, watch),
        Context.add(StatementClient, client),
        Context.add(WriteSessions, writeSessions({ url, applicationName, watch, pool: lent })),
      )
    }),
  )

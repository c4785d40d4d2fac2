/**
 * The owner's connections. `PgClient` lends whole sessions, for transactions and listening. `StatementClient` shares its
 * few sessions between all fibers, for the single short statements of every request. They are two pools because a session
 * of a shared pool that is reserved for long may already have another fiber's statement queued behind it (observed with
 * @effect/sql-pg 4.0.5). `WriteSessions` opens a session for each writer of events.
 */
import { PgClient } from "@effect/sql-pg"
import { Context, Effect, Layer } from "effect"
import { rawTypes } from "./RawTypes.ts"
import { type SessionGroup, sessionGroup } from "./SessionGroup.ts"
import * as SessionPool from "./SessionPool.ts"
import * as SessionSettings from "./SessionSettings.ts"
import { CONNECT_TIMEOUT, type Suspect } from "./ResponseTimeout.ts"
import { ResponseWatch } from "./ResponseWatch.ts"
import { statementPool, type Statements } from "./StatementPool.ts"
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

const pool = ({ url }: OwnerOptions, group: SessionGroup, maxConnections: number, multiplex: boolean) =>
  SessionPool.layer({
    url,
    stream: group.stream,
    maxConnections,
    multiplex,
    ...(multiplex ? { types: rawTypes() } : {}),
    idleTimeout: "60 seconds",
    connectTimeout: CONNECT_TIMEOUT,
    applicationName: group.applicationName,
    settings: multiplex ? SessionSettings.ownerShared : SessionSettings.owner,
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
      const watch = yield* ResponseWatch.make
      yield* watch.join(lent)
      yield* watch.join(shared)
      const client = yield* statementPool(Context.get(statements, PgClient.PgClient), (owedSince) =>
        watch.look(shared, owedSince),
      )
      return built.pipe(
        Context.add(ResponseWatch, watch),
        Context.add(StatementClient, client),
        Context.add(WriteSessions, writeSessions({ url, applicationName, watch, pool: lent })),
      )
    }),
  )

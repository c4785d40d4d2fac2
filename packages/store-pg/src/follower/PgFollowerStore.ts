/**
 * Followers in PostgreSQL. Claims and releases lock the row and write what `FollowerLease` decides, so that what the model
 * checks is what runs.
 */
import { hostname } from "node:os"
import { claimLease, failLease, type FollowerLease, releaseLease } from "@data-cabinet/core/follower/FollowerLease"
import {
  FollowerStore,
  type HeldFollower,
  LEASE_MILLIS,
  CLIENT_KIND,
  type FollowerState,
} from "@data-cabinet/core/follower/FollowerStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import * as Statement from "./FollowerStatement.ts"
import { toLocked } from "./FollowerTransaction.ts"
import { LIST_CLIENTS } from "./ClientFollowerStatement.ts"
import { LIST } from "./FollowerStatement.ts"

type Sql = PgClient.PgClient

const HOLDER = `${hostname()}:${process.pid}`

const write = (sql: Sql, id: number, row: FollowerLease, error: string | null, holder: string | null) => {
  const { lease, leasedUntil, notBefore, failures } = row
  return sql.unsafe(Statement.SET_LEASE, [id, lease, leasedUntil, notBefore, failures, error, holder])
}

const claim = (sql: Sql, kind: string) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* sql.unsafe<Statement.FollowerRow>(Statement.LOCK_CLAIMABLE, [kind])
      if (found === undefined) return Option.none<HeldFollower>()
      const row = toLocked(found)
      const claimed = claimLease(row, row.now, LEASE_MILLIS)
      if (claimed === null) return Option.none<HeldFollower>()
      yield* write(sql, row.id, claimed, null, HOLDER)
      return Option.some<HeldFollower>({ id: row.id, kind: row.kind, name: row.name, lease: claimed.lease })
    }),
  )

/** Changes a held follower; null if its lease is lost, or if it is gone. */
const change = (
  sql: Sql,
  held: HeldFollower,
  error: string | null,
  decide: (row: FollowerLease, now: number) => FollowerLease | null,
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* sql.unsafe<Statement.FollowerRow>(Statement.LOCK_HELD, [held.id])
      const row = found === undefined ? null : decide(toLocked(found), found.now)
      if (row !== null) yield* write(sql, held.id, row, error, null)
      return row
    }),
  )

export const layer = Layer.effect(
  FollowerStore,
  Effect.map(PgClient.PgClient, (sql) =>
    FollowerStore.of({
      claim: (kind) => orUnavailable(claim(sql, kind)),
      fail: (held, error) =>
        orUnavailable(
          Effect.map(
            change(sql, held, error, (row, now) => failLease(row, held.lease, now)),
            (row) => row?.failures ?? 0,
          ),
        ),
      release: (held, restMillis) =>
        Effect.asVoid(
          orUnavailable(change(sql, held, null, (row, now) => releaseLease(row, held.lease, now, restMillis))),
        ),
      nextDue: (kind) =>
        orUnavailable(
          Effect.map(
            sql.unsafe<{ readonly millis: number | null }>(Statement.NEXT_DUE, [kind]),
            ([row]) => row!.millis,
          ),
        ),
      list: orUnavailable(listFollowers(sql)),
    }),
  ),
)

type ClientOnly = "key" | "sourceId" | "channel"
type WorkOnly = "kind" | "failures" | "error" | "retryAt" | "paused" | "holder"

/** Every follower with its lag: the cabinet's own, and those of clients. */
export const listFollowers = Effect.fnUntraced(function* (sql: PgClient.PgClient) {
  const work = yield* sql.unsafe<Omit<FollowerState, ClientOnly>>(LIST)
  const clients = yield* sql.unsafe<Omit<FollowerState, WorkOnly>>(LIST_CLIENTS)
  return [
    ...work.map((row): FollowerState => ({ ...row, key: null, sourceId: null, channel: null })),
    ...clients.map((row): FollowerState => {
      const { key, sourceId, channel, ...place } = row
      const idle = { failures: 0, error: null, retryAt: null, paused: false, holder: null }
      return { ...place, kind: CLIENT_KIND, ...idle, key, sourceId, channel }
    }),
  ]
})

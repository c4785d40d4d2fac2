/** Destinations in PostgreSQL. What a holder writes is written with its follower's row locked, and decided by `FollowerLease`. */
import { MAX_DESTINATIONS, type StoredDestination } from "@data-cabinet/core/destination/Destination"
import {
  type AddObstacle,
  DestinationStore,
  type DestinationWork,
} from "@data-cabinet/core/destination/DestinationStore"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { type FollowerLease, movePlace } from "@data-cabinet/core/follower/FollowerLease"
import { type HeldFollower, LEASE_MILLIS } from "@data-cabinet/core/follower/FollowerStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { type FollowerRow, LOCK_HELD, SET_LEASE, SET_PLACE } from "../follower/FollowerStatement.ts"
import { type LockedFollower, toLocked } from "../follower/FollowerTransaction.ts"
import * as Statement from "./DestinationStatement.ts"

type Sql = PgClient.PgClient

interface Obstacles {
  readonly exists: boolean
  readonly known: number
  readonly lacksSource: boolean
}

const add = (
  sql: Sql,
  { location, format, sources, tag }: Parameters<DestinationStore["Service"]["add"]>[0],
  { epoch, xid, id }: FeedPlace,
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      yield* sql.unsafe(Statement.LOCK_CREATION)
      const named = sources === null ? null : int8Array(sources)
      const [found] = yield* sql.unsafe<Obstacles>(Statement.OBSTACLES, [location, named])
      const { exists, known, lacksSource } = found!
      if (exists) return "exists" satisfies AddObstacle
      if (known >= MAX_DESTINATIONS) return "full" satisfies AddObstacle
      if (lacksSource) return "no_source" satisfies AddObstacle
      const values = [location, format, named, tag, epoch, xid, id]
      const [row] = yield* sql.unsafe<Statement.DestinationRow>(Statement.ADD, values)
      const added: StoredDestination = row!
      return added
    }),
  )

/** Acts for the holder of the current lease; null if that is another. `to`: where its position is to be. */
const holding = <A, E>(
  sql: Sql,
  { id, lease }: HeldFollower,
  to: FeedPlace | null,
  act: (row: LockedFollower, renewed: FollowerLease) => Effect.Effect<A, E>,
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* sql.unsafe<FollowerRow>(LOCK_HELD, [id])
      if (found === undefined) return null
      const row = toLocked(found)
      const renewed = movePlace(row, lease, to ?? row.place, row.now, LEASE_MILLIS)
      return renewed === null ? null : yield* act(row, renewed)
    }),
  )

const work = (sql: Sql, held: HeldFollower) =>
  holding(
    sql,
    held,
    null,
    Effect.fnUntraced(function* (row, { lease, leasedUntil }) {
      yield* sql.unsafe(SET_LEASE, [row.id, lease, leasedUntil, row.notBefore, row.failures, null, null])
      const [found] = yield* sql.unsafe<Statement.WorkRow>(Statement.WORK, [row.id])
      if (found === undefined) return Option.none<DestinationWork>()
      const { plannedEpoch, plannedXid, plannedId, ...destination } = found
      const planned = plannedEpoch === null ? null : { epoch: plannedEpoch, xid: BigInt(plannedXid), id: plannedId }
      return Option.some<DestinationWork>({ destination, place: row.place, planned })
    }),
  )

const plan = (sql: Sql, held: HeldFollower, { epoch, xid, id }: FeedPlace) =>
  holding(sql, held, null, (row) => Effect.as(sql.unsafe(Statement.PLAN, [row.id, epoch, xid, id]), true))

const move = (sql: Sql, held: HeldFollower, to: FeedPlace) =>
  holding(sql, held, to, (row, { place, leasedUntil }) =>
    Effect.as(sql.unsafe(SET_PLACE, [row.id, place.epoch, place.xid, place.id, leasedUntil]), true),
  )

export const layer = Layer.effect(
  DestinationStore,
  Effect.map(PgClient.PgClient, (sql) => {
    const change = (statement: string, id: number) =>
      orUnavailable(Effect.map(sql.unsafe(statement, [id]), (rows) => rows.length > 0))
    return DestinationStore.of({
      add: (destination, start) => orUnavailable(add(sql, destination, start)),
      list: orUnavailable(sql.unsafe<Statement.DestinationRow>(Statement.LIST)),
      pause: (id) => change(Statement.PAUSE, id),
      resume: (id) => change(Statement.RESUME, id),
      remove: (id) => change(Statement.REMOVE, id),
      work: (held) => orUnavailable(Effect.map(work(sql, held), (found) => found ?? "lost")),
      plan: (held, to) => orUnavailable(Effect.map(plan(sql, held, to), (isHeld) => isHeld ?? false)),
      move: (held, to) => orUnavailable(Effect.map(move(sql, held, to), (isHeld) => isHeld ?? false)),
    })
  }),
)

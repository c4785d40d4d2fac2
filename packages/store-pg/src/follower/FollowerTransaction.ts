/**
 * The work of a follower inside the database, in the transaction that moves its position. The row is locked first, then
 * the fencing token is compared, and the work begins after the position that the row has: one that a process remembers
 * may be outdated. Events are read in a later snapshot than the watermark, as in the feed's pages.
 */
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { type FollowerLease, movePlace } from "@data-cabinet/core/follower/FollowerLease"
import { type HeldFollower, LEASE_MILLIS } from "@data-cabinet/core/follower/FollowerStore"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { WATERMARK } from "../feed/Fence.ts"
import * as Statement from "./FollowerStatement.ts"

/** A locked follower. */
export interface LockedFollower extends FollowerLease {
  readonly id: number
  readonly kind: string
  readonly name: string
  readonly now: number
}

export const toLocked = ({ epoch, xid, eventId, ...row }: Statement.FollowerRow): LockedFollower => ({
  ...row,
  place: { epoch, xid: BigInt(xid), id: eventId },
})

/** The first position that must not be shown yet. */
export interface Bound {
  readonly epoch: string
  readonly bound: string
}

/** What a turn of work did, and the last event that is done; null if the position stays. */
export interface Done<A> {
  readonly place: FeedPlace | null
  readonly result: A
}

/** Which follower: the one that a process holds, or one by its kind and name for the duration of this transaction. */
export type WhichFollower = HeldFollower | { readonly kind: string; readonly name: string }

const lock = (sql: PgClient.PgClient, which: WhichFollower) =>
  "lease" in which
    ? sql.unsafe<Statement.FollowerRow>(Statement.LOCK_HELD, [which.id])
    : sql.unsafe<Statement.FollowerRow>(Statement.LOCK_FREE, [which.kind, which.name])

/** Null if the follower's lease is lost, or if another session is moving a follower that is not held. */
export const followOn = <A, E>(
  sql: PgClient.PgClient,
  which: WhichFollower,
  work: (place: FeedPlace, bound: Bound) => Effect.Effect<Done<A>, E>,
) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* lock(sql, which)
      if (found === undefined) return null
      const row = toLocked(found)
      if ("lease" in which && which.lease !== row.lease) return null
      const [bound] = yield* sql.unsafe<Bound>(WATERMARK, [0, 0, 0, 0])
      const { place, result } = yield* work(row.place, bound!)
      if (place === null) return { result }
      const moved = movePlace(row, row.lease, place, row.now, LEASE_MILLIS)
      if (moved === null) return yield* Effect.die(new Error(`Follower ${row.kind} ${row.name} was moved backwards.`))
      // A reader that moves the follower on its own behalf holds no lease.
      const leasedUntil = "lease" in which ? moved.leasedUntil : row.leasedUntil
      yield* sql.unsafe(Statement.SET_PLACE, [row.id, place.epoch, place.xid, place.id, leasedUntil])
      return { result }
    }),
  )

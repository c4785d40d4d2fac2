/** Addresses in order, in PostgreSQL. A row is locked, `FollowerLease` decides, and its result is written. */
import { hostname } from "node:os"
import type { Lane } from "@data-cabinet/core/delivery/DeliveryQueue"
import {
  type OrderedAttempt,
  type OrderedProgress,
  ORDERED,
  OrderedQueue,
  type SkipObstacle,
} from "@data-cabinet/core/delivery/OrderedQueue"
import {
  claimLease,
  failLease,
  type FollowerLease,
  movePlace,
  releaseLease,
  skipPast,
} from "@data-cabinet/core/follower/FollowerLease"
import type { HeldFollower } from "@data-cabinet/core/follower/FollowerStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { int8Array, storableMillis } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { SourceNames } from "../feed/SourceNames.ts"
import { type FollowerRow, LOCK_HELD, SET_LEASE } from "../follower/FollowerStatement.ts"
import { type LockedFollower, toLocked } from "../follower/FollowerTransaction.ts"
import { SecretCiphers } from "../key/SecretCipher.ts"
import { orderedPage } from "./OrderedPage.ts"
import * as Statement from "./OrderedStatement.ts"
import { recording } from "./AttemptPartitions.ts"
import { type Paused, tellPaused } from "./PgDeliveryQueue.ts"
import { storable, storableTiming } from "./SettleStatement.ts"

type Sql = PgClient.PgClient

const HOLDER = `${hostname()}:${process.pid}`

const claim = (sql: Sql, lane: Lane, limit: number, leaseMillis: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const rows = yield* sql.unsafe<FollowerRow>(Statement.LOCK_CLAIMABLE, [lane === "failing", limit])
      const held: Array<HeldFollower> = []
      for (const row of rows.map(toLocked)) {
        const claimed = claimLease(row, row.now, leaseMillis)
        if (claimed === null) continue
        const { lease, leasedUntil, notBefore, failures } = claimed
        yield* sql.unsafe(SET_LEASE, [row.id, lease, leasedUntil, notBefore, failures, null, HOLDER])
        held.push({ id: row.id, kind: ORDERED, name: row.name, lease })
      }
      if (held.length > 0) yield* sql.unsafe(Statement.FORGET_EARLIER, [int8Array(held.map(({ id }) => id))])
      return held
    }),
  )

/** The row after this progress; null if the lease is lost. */
const progressed = (
  row: LockedFollower,
  held: HeldFollower,
  { place, next }: OrderedProgress,
  leaseMillis: number,
): FollowerLease | null => {
  const moved = movePlace(row, held.lease, place ?? row.place, row.now, leaseMillis)
  if (moved === null) return null
  // A call that only renews the lease does not count as a success.
  const stands = place === null ? { ...moved, failures: row.failures } : moved
  if (next.is === "keep") return stands
  if (next.is === "fail") return failLease(stands, held.lease, row.now, () => next.afterMillis)
  return releaseLease(stands, held.lease, row.now, next.restMillis)
}

const setFollower = (sql: Sql, id: number, row: FollowerLease, error: string | null, hasMoved: boolean) =>
  sql.unsafe(Statement.SET_FOLLOWER, [
    id,
    row.place.epoch,
    row.place.xid,
    row.place.id,
    row.lease,
    row.leasedUntil,
    row.notBefore,
    row.failures,
    error,
    hasMoved,
  ])

const linesParameter = (lines: ReadonlyArray<OrderedAttempt>, nextMillis: number | null): string =>
  JSON.stringify(
    lines.map(({ outcome, ...line }) => ({
      delivery: line.deliveryId,
      number: line.number,
      event: line.eventId,
      events: line.events === 1 ? null : line.events,
      created_at: line.createdAt,
      ago: Math.max(0, line.agoMillis),
      delivered: line.delivered,
      ms: storableMillis(outcome.durationMs),
      timing: storableTiming(outcome),
      peer: outcome.peer,
      status: outcome.status,
      failure: storable(outcome.failure),
      response_body: storable(outcome.responseBody),
      next: line.delivered ? null : nextMillis,
    })),
  )

const record = (sql: Sql, held: HeldFollower, progress: OrderedProgress, leaseMillis: number) =>
  sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* sql.unsafe<FollowerRow>(LOCK_HELD, [held.id])
      if (found === undefined) return null
      const row = toLocked(found)
      const after = progressed(row, held, progress, leaseMillis)
      if (after === null) return null
      const { next, lines, filtered } = progress
      const error = next.is === "fail" ? storable(next.error) : null
      yield* setFollower(sql, held.id, after, error, progress.place !== null)
      if (filtered > 0) yield* sql.unsafe(Statement.COUNT_FILTERED, [held.id, filtered])
      const last = lines.at(-1)
      const paused =
        last === undefined
          ? []
          : yield* sql.unsafe<Paused>(Statement.LOG, [
              held.id,
              linesParameter(lines, next.is === "fail" ? next.afterMillis : null),
              last.delivered,
              last.outcome.status,
            ])
      if (next.is === "release") yield* sql.unsafe(Statement.END_FOLLOWER, [held.id])
      return paused
    }),
  )

const skip = (sql: Sql, addressId: number, eventId: number, reason: string) => {
  const obstacle = (is: SkipObstacle, waitsAt: number | null) => Option.some({ obstacle: is, waitsAt })
  return sql.withTransaction(
    Effect.gen(function* () {
      const [found] = yield* sql.unsafe<FollowerRow>(Statement.LOCK_OF_ADDRESS, [addressId])
      if (found === undefined) {
        const known = yield* sql.unsafe(Statement.IS_ADDRESS, [addressId])
        return known.length === 0 ? Option.none() : obstacle("not_in_order", null)
      }
      const row = toLocked(found)
      const [waiting] = yield* sql.unsafe<Statement.WaitingRow>(Statement.WAITING, [row.id])
      const waitsAt = row.failures === 0 ? null : Number(waiting?.id ?? 0)
      if (waiting === undefined || waitsAt !== eventId) return obstacle("not_waiting", waitsAt)
      const place = { epoch: Number(waiting.epoch), xid: BigInt(waiting.xid), id: eventId }
      const skipped = skipPast(row, place, row.now)
      if (skipped === null) return obstacle("not_waiting", waitsAt)
      yield* setFollower(sql, row.id, skipped, null, true)
      yield* sql.unsafe(Statement.SKIPPED, [addressId, waiting.delivery, eventId, row.failures + 1, storable(reason)])
      return Option.some({ obstacle: null, waitsAt })
    }),
  )
}

export const layer = Layer.effect(
  OrderedQueue,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const parts = { sql, cipher: yield* SecretCiphers, names: new SourceNames() }
    return OrderedQueue.of({
      claim: (lane, limit, leaseMillis) => orUnavailable(claim(sql, lane, limit, leaseMillis)),
      nextDue: (lane) =>
        orUnavailable(
          Effect.map(
            sql.unsafe<{ readonly millis: number | null; readonly known: number }>(Statement.NEXT_DUE, [
              lane === "failing",
            ]),
            ([row]) => (row!.known === 0 ? "none" : row!.millis === null ? null : Math.max(0, row!.millis)),
          ),
        ),
      page: (held, isQuick) => orUnavailable(orderedPage(parts, held, isQuick)),
      record: (held, progress, leaseMillis) =>
        Effect.flatMap(recording(sql, record(sql, held, progress, leaseMillis)), (paused) =>
          paused === null ? Effect.succeed(false) : Effect.as(tellPaused(paused), true),
        ),
      skip: (addressId, eventId, reason) => orUnavailable(skip(sql, addressId, eventId, reason)),
    })
  }),
)

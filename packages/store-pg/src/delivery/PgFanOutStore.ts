/**
 * Writes the deliveries of events behind their accepts, in slices. The follower's row is locked, so one process at a time
 * writes; the address up to which an event's deliveries are written is kept in the same transaction.
 */
import { type FanOutSlice, FanOutStore } from "@data-cabinet/core/delivery/FanOut"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import { int8Array } from "../connection/ArrayParameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { followOn } from "../follower/FollowerTransaction.ts"
import * as Statement from "./FanOutStatement.ts"

/** The most events of one slice. */
const SLICE_EVENTS = 100
/** Begins no further event after this: on a busy machine a smaller slice commits, where a whole one would run out of time. */
const SLICE_MILLIS = 2_000

type Sql = PgClient.PgClient

interface Wrote {
  readonly picked: number
  readonly last: string | null
  readonly written: number
}

/** Writes up to `room` deliveries of one event. */
const writeOne = (sql: Sql, row: Statement.FanOutRow, room: number) => {
  const values = [row.as_of, row.source_id, row.event_id, row.address_id, room, row.at, row.except_address]
  const again = row.again || row.younger !== null
  return Effect.map(
    again
      ? sql.unsafe<Wrote>(Statement.WRITE_AGAIN, [...values, row.younger])
      : sql.unsafe<Wrote>(Statement.WRITE, values),
    ([wrote]) => wrote!,
  )
}

const slice = Effect.fnUntraced(function* (sql: Sql, from: FeedPlace, rows: number) {
  const first = yield* sql.unsafe<{ readonly as_of: string; readonly event_id: string }>(Statement.FIRST, [
    SLICE_EVENTS,
  ])
  const ids = [...new Set(first.map((row) => BigInt(row.event_id)))]
  const free = yield* sql.unsafe<{ readonly id: string }>(Statement.HOLD_EVENTS, [int8Array(ids)])
  // Read once the events are held: what has been cancelled meanwhile is gone.
  const held = yield* sql.unsafe<Statement.FanOutRow>(Statement.HELD, [
    int8Array(first.map((row) => BigInt(row.as_of))),
    int8Array(free.map(({ id }) => BigInt(id))),
  ])
  const done: Array<bigint> = []
  let place = from
  let picked = 0
  let written = 0
  let isLate = false
  const begun = yield* Clock.currentTimeMillis
  for (const row of held) {
    isLate = (yield* Clock.currentTimeMillis) - begun > SLICE_MILLIS
    if (picked >= rows || (isLate && picked > 0)) break
    const room = rows - picked
    const wrote = row.is_deleted ? NOTHING : yield* writeOne(sql, row, room)
    picked += wrote.picked
    written += wrote.written
    if (wrote.picked === room) {
      yield* sql.unsafe(Statement.PROCEED, [row.as_of, wrote.last])
      continue
    }
    done.push(BigInt(row.as_of))
    const its = { epoch: row.epoch, xid: BigInt(row.xid), id: row.id }
    if (comparePlaces(its, place) > 0) place = its
  }
  if (done.length > 0) yield* sql.unsafe(Statement.DROP, [int8Array(done)])
  const more = picked >= rows || isLate || (first.length === SLICE_EVENTS && done.length > 0)
  return { place, result: { written, more } satisfies FanOutSlice }
})

const NOTHING: Wrote = { picked: 0, last: null, written: 0 }

export const layer = Layer.effect(
  FanOutStore,
  Effect.map(PgClient.PgClient, (sql) =>
    FanOutStore.of({
      write: (held, rows) =>
        orUnavailable(
          Effect.map(
            followOn(sql, held, (place) => slice(sql, place, rows)),
            (done) => done?.result ?? null,
          ),
        ),
    }),
  ),
)

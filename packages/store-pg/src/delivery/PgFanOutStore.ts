/**
 * Writes the deliveries of events after their accepts, in slices. The follower's row is locked, so one process at a
 * time writes; the address up to which an event's deliveries are written is kept in the same transaction.
 */
import { type FanOutSlice, FanOutStore } from "@data-cabinet/core/delivery/FanOut"
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { PgClient } from "@effect/sql-pg"
import { Clock, Effect, Layer } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { followOn } from "../follower/FollowerTransaction.ts"
import * as Statement from "./FanOutStatement.ts"
import { resendSlice } from "./ResendQueue.ts"

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

/** Writes up to `room` deliveries of one event; those to addresses with a filter all at once. */
const writeOne = (sql: Sql, row: Statement.FanOutRow, room: number) => {
  if (row.is_filtered) {
    return Effect.map(sql.unsafe<Wrote>(Statement.WRITE_FILTERED, [row.event_id]), ([wrote]) => wrote!)
  }
  const values = [row.as_of, row.source_id, row.event_id, row.address_id, room, row.at, row.except_address]
  const again = row.again || row.younger !== null
  return Effect.map(
    again
      ? sql.unsafe<Wrote>(Statement.WRITE_AGAIN, [...values, row.younger])
      : sql.unsafe<Wrote>(Statement.WRITE, values),
    ([wrote]) => wrote!,
  )
}

/** The events in one of the two queues. */
const asOf = (rows: ReadonlyArray<Statement.FirstRow>, isFiltered: boolean) =>
  int8Array(rows.filter((row) => row.is_filtered === isFiltered).map((row) => BigInt(row.as_of)))

/** Those of the rows whose events no other transaction changes, in their order. */
const hold = Effect.fnUntraced(function* (sql: Sql, first: ReadonlyArray<Statement.FirstRow>) {
  const ids = [...new Set(first.map((row) => BigInt(row.event_id)))]
  const free = yield* sql.unsafe<{ readonly id: string }>(Statement.HOLD_EVENTS, [int8Array(ids)])
  // Read once the events are held: what has been cancelled meanwhile is gone.
  const events = int8Array(free.map(({ id }) => BigInt(id)))
  return yield* sql.unsafe<Statement.FanOutRow>(Statement.HELD, [asOf(first, false), asOf(first, true), events])
})

const slice = Effect.fnUntraced(function* (sql: Sql, from: FeedPlace, rows: number) {
  const first = yield* sql.unsafe<Statement.FirstRow>(Statement.FIRST, [SLICE_EVENTS])
  const held = yield* hold(sql, first)
  const done: Array<Statement.FanOutRow> = []
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
    if (!row.is_filtered && wrote.picked === room) {
      yield* sql.unsafe(Statement.PROCEED, [row.as_of, wrote.last])
      continue
    }
    done.push(row)
    const its = { epoch: row.epoch, xid: BigInt(row.xid), id: row.id }
    if (comparePlaces(its, place) > 0) place = its
  }
  if (done.length > 0) yield* sql.unsafe(Statement.DROP, [asOf(done, false), asOf(done, true)])
  const more = picked >= rows || isLate || (first.length === SLICE_EVENTS && done.length > 0)
  return { place, result: { written, more } satisfies FanOutSlice }
})

/** What is sent again fills the rest of a slice, and a tenth of it even if there is more that is new. */
const sliceAndResend = Effect.fnUntraced(function* (sql: Sql, from: FeedPlace, rows: number) {
  const fannedOut = yield* slice(sql, from, rows)
  const { written, more } = fannedOut.result
  const resent = yield* resendSlice(sql, more ? Math.ceil(rows / 10) : Math.max(1, rows - written))
  const result = { written: written + resent.written, more: more || resent.more } satisfies FanOutSlice
  return { ...fannedOut, result }
})

const NOTHING: Wrote = { picked: 0, last: null, written: 0 }

export const layer = Layer.effect(
  FanOutStore,
  Effect.map(PgClient.PgClient, (sql) =>
    FanOutStore.of({
      write: (held, rows) =>
        orUnavailable(
          Effect.map(
            followOn(sql, held, (place) => sliceAndResend(sql, place, rows)),
            (done) => done?.result ?? null,
          ),
        ),
    }),
  ),
)

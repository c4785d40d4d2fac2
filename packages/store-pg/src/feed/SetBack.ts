/**
 * Clients whose place this database does not have, though it never takes an event out: it was set back since they saw it,
 * or they were led to another copy of it and back. Where its server was restarted, the next accept begins a new epoch by
 * itself; where not, the client's cursor is the only proof, and the epoch is begun here, before the page is answered.
 *
 * Such a client goes on from the latest place that it was at in an epoch which is known here; and within that epoch, where
 * its very event is gone, from the first event that was accepted after it. So it is shown all that it has not seen.
 */
import type { FeedPlace, FeedPosition } from "@data-cabinet/core/feed/FeedStore"
import { movedTo, placesOf } from "@data-cabinet/core/feed/FeedTrail"
import { Effect } from "effect"
import { int8Array } from "../connection/ArrayParameter.ts"
import type { Statements } from "../connection/StatementPool.ts"
import { isEventOf } from "./Fence.ts"

const BEGIN = "SELECT cabinet.begin_epoch_above($1::int8, $2::int8) AS ran_on"

/** Of each place: is its epoch one of this database's, and its event there? */
const PLACES = `
SELECT p.epoch = 0 OR EXISTS (SELECT FROM cabinet.epoch k WHERE k.epoch = p.epoch) AS known,
       p.epoch = 0 OR EXISTS (SELECT FROM cabinet.event e WHERE ${isEventOf("p.epoch", "p.xid", "p.id", "p.at")}) AS there
FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) WITH ORDINALITY AS p(epoch, xid, id, at, n) ORDER BY p.n`

const FIRST_AFTER = `
SELECT xid::text AS xid, id::float8 AS id
FROM cabinet.first_place_after($1::int8, '2000-01-01 00:00:00+00'::timestamptz + $2::int8 * interval '1 microsecond')`

/** Begins an epoch above the client's place. By then somebody else may have. */
export const beginEpochAbove = Effect.fnUntraced(function* (sql: Statements, { epoch, xid }: FeedPlace) {
  const [row] = yield* sql.unsafe<{ ran_on: boolean }>(BEGIN, [epoch, xid])
  if (row!.ran_on) {
    yield* Effect.logWarning(
      "the database was set back while its server ran on: a client of the feed has read events that are not in it any more. A new epoch of the feed has begun; cabinet doctor says more",
    )
  }
})

/** Where the client goes on from. */
export const placeKnownHere = Effect.fnUntraced(function* (sql: Statements, position: FeedPosition) {
  const places = placesOf(position)
  const found = yield* sql.unsafe<{ known: boolean; there: boolean }>(PLACES, [
    int8Array(places.map(({ epoch }) => epoch)),
    int8Array(places.map(({ xid }) => xid)),
    int8Array(places.map(({ id }) => id)),
    int8Array(places.map(({ receivedAt = 0n }) => receivedAt)),
  ])
  const at = found.findIndex(({ known }) => known)
  const place = places[at]
  if (place === undefined) return position
  if (found[at]!.there || place.receivedAt === undefined) return movedTo(place, position)
  const [first] = yield* sql.unsafe<{ xid: string; id: number }>(FIRST_AFTER, [place.epoch, place.receivedAt])
  // Its event is not in this database, so nothing can stand between it and an earlier one of the same transaction.
  return movedTo(first === undefined ? place : { ...place, xid: BigInt(first.xid), id: first.id - 1 }, position)
})

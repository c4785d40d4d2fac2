/**
 * Handles clients whose position is not in this database although it never removes an event: the database was set back
 * since they saw it, or they were directed to another copy of it and back. If its server was restarted, the next accept
 * begins a new epoch by itself. If not, the client's cursor is the only proof, and the epoch is begun here, before the
 * page is returned.
 *
 * Such a client resumes at the latest place of its position whose event is in this database. Everything that the database
 * accepted after it was set back comes after that place, because it had that event by then, and transaction ids only rise
 * from there. So the client is shown everything that it has not seen, and some events a second time if events of an epoch
 * were lost. No clock is involved: that of a machine that was set back may lag until it is corrected.
 *
 * Decision: docs/decisions/0035-cursors-prove-that-a-database-was-set-back.md
 */
import { FEED_START, type FeedPlace, type FeedPosition } from "@data-cabinet/core/feed/FeedStore"
import { laterPlaces, placesOf, resumeAt } from "@data-cabinet/core/feed/FeedPosition"
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { int8Array } from "../connection/Parameter.ts"
import type { Statements } from "../connection/StatementPool.ts"
import { isEventOf } from "./Fence.ts"

const BEGIN = "SELECT cabinet.begin_epoch_above($1::int8, $2::int8) AS ran_on"

/**
 * The first of these places whose event is in this database, counted from 1; 0 without one. Each costs one index
 * lookup.
 */
const FIRST_KNOWN = `
SELECT coalesce(min(p.n), 0)::float8 AS first
FROM unnest($1::int8[], $2::int8[], $3::int8[], $4::int8[]) WITH ORDINALITY AS p(epoch, xid, id, at, n)
CROSS JOIN LATERAL (SELECT FROM cabinet.event e WHERE ${isEventOf("p.epoch", "p.xid", "p.id", "p.at")} LIMIT 1) e`

/** Begins an epoch above the client's position, unless another client's request already has. */
export const beginEpochAbove = Effect.fnUntraced(function* (sql: PgClient.PgClient, { epoch, xid }: FeedPlace) {
  const [row] = yield* sql.unsafe<{ ran_on: boolean }>(BEGIN, [epoch, xid])
  if (row!.ran_on) {
    yield* Effect.logWarning(
      "the database was rolled back while its server kept running: a client of the feed has read events that it no longer contains. A new epoch of the feed has begun; cabinet doctor says more",
    )
  }
})

/** Whether the event of a place is in a file. */
export type InFile<E> = (place: FeedPlace) => Effect.Effect<boolean, E>

const firstWithRow = Effect.fnUntraced(function* (sql: Statements, places: ReadonlyArray<FeedPlace>) {
  const [row] = yield* sql.unsafe<{ first: number }>(FIRST_KNOWN, [
    int8Array(places.map(({ epoch }) => epoch)),
    int8Array(places.map(({ xid }) => xid)),
    int8Array(places.map(({ id }) => id)),
    int8Array(places.map(({ receivedAt = 0n }) => receivedAt)),
  ])
  return row!.first === 0 ? places.length : row!.first - 1
})

const firstKnown = Effect.fnUntraced(function* <E>(
  sql: Statements,
  places: ReadonlyArray<FeedPlace>,
  inFile: InFile<E> | null,
) {
  const withRow = yield* firstWithRow(sql, places)
  if (inFile !== null) for (const place of places.slice(0, withRow)) if (yield* inFile(place)) return place
  return places[withRow]
})

/**
 * Where a client whose position is not in this database resumes: at the beginning of the feed if none of its places is
 * known.
 */
export const latestKnown = Effect.fnUntraced(function* <E>(
  sql: Statements,
  position: FeedPosition,
  inFile: InFile<E> | null,
) {
  const place = yield* firstKnown(sql, placesOf(position), inFile)
  return resumeAt(place ?? FEED_START, position)
})

/**
 * Where a client whose position is in this database resumes: later, if it had been there before it was directed
 * elsewhere.
 */
export const laterKnown = <E>(sql: Statements, position: FeedPosition, inFile: InFile<E> | null) => {
  const later = laterPlaces(position)
  if (later.length === 0) return Effect.succeed(position)
  return Effect.map(firstKnown(sql, later, inFile), (place) =>
    place === undefined ? position : resumeAt(place, position),
  )
}

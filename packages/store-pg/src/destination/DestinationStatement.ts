/** The statements of destinations. */
import { DESTINATION } from "@data-cabinet/core/destination/Destination"

/** A destination as its row is read. */
export interface DestinationRow {
  readonly id: number
  readonly followerId: number
  readonly location: string
  readonly format: "ndjson" | "parquet"
  readonly sources: ReadonlyArray<number> | null
  readonly tag: string
  readonly createdAt: string
  readonly paused: boolean
}

const ROW = `d.id::float8 AS id, d.follower_id::float8 AS "followerId", d.location, d.format, d.sources::float8[] AS sources, d.tag,
  cabinet.rfc3339(d.created_at) AS "createdAt", d.paused_at IS NOT NULL AS paused`

/** Destinations are created one after another, so that there are never too many. */
export const LOCK_CREATION = "LOCK TABLE cabinet.destination IN SHARE ROW EXCLUSIVE MODE"

/** $1: location, $2: sources. */
export const OBSTACLES = `
SELECT EXISTS (SELECT FROM cabinet.destination d WHERE d.location = $1::text) AS "exists",
  (SELECT count(*)::int4 FROM cabinet.destination) AS known,
  EXISTS (SELECT FROM unnest($2::int8[]) AS wanted(id)
    WHERE NOT EXISTS (SELECT FROM cabinet.source s WHERE s.id = wanted.id AND s.deleted_at IS NULL)) AS "lacksSource"`

/** $1: location, $2: format, $3: sources, $4: tag, $5 to $7: the place after which it begins. */
export const ADD = `
WITH follower AS (
  INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id)
  VALUES ('${DESTINATION}', $1::text, $5::int8, $6::int8, $7::int8) RETURNING id
), d AS (
  INSERT INTO cabinet.destination (follower_id, location, format, sources, tag, created_at)
  SELECT f.id, $1::text, $2::text, $3::int8[], $4::text, cabinet.now() FROM follower f RETURNING *
)
SELECT ${ROW} FROM d`

export const LIST = `SELECT ${ROW} FROM cabinet.destination d ORDER BY d.id`

/** $1: id. */
export const PAUSE = `
UPDATE cabinet.destination SET paused_at = coalesce(paused_at, cabinet.now()) WHERE id = $1::int8 RETURNING id`

/** $1: id. A wait after a failure ends too. */
export const RESUME = `
WITH d AS (UPDATE cabinet.destination SET paused_at = NULL WHERE id = $1::int8 RETURNING id, follower_id), due AS (
  UPDATE cabinet.follower f SET not_before = cabinet.now() FROM d WHERE f.id = d.follower_id AND f.not_before > cabinet.now()
)
SELECT id FROM d`

/** $1: id. */
export const REMOVE = `
DELETE FROM cabinet.follower f USING cabinet.destination d WHERE d.id = $1::int8 AND f.id = d.follower_id RETURNING f.id`

/** A destination with the end of the slice that was begun last. */
export interface WorkRow extends DestinationRow {
  readonly plannedEpoch: number | null
  readonly plannedXid: string
  readonly plannedId: number
}

/** $1: follower. No row if it is paused. */
export const WORK = `
SELECT ${ROW}, d.planned_epoch::float8 AS "plannedEpoch", d.planned_xid::text AS "plannedXid", d.planned_id::float8 AS "plannedId"
FROM cabinet.destination d WHERE d.follower_id = $1::int8 AND d.paused_at IS NULL`

/** $1: follower, $2 to $4: where the slice ends. */
export const PLAN = `
UPDATE cabinet.destination SET planned_epoch = $2::int8, planned_xid = $3::int8, planned_id = $4::int8 WHERE follower_id = $1::int8`

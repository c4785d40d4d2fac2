/** The statements of destinations. */
import { DESTINATION } from "@data-cabinet/core/destination/Destination"
import { S3_SETTINGS } from "@data-cabinet/core/destination/S3Settings"
import { FEED_START } from "@data-cabinet/core/feed/FeedStore"

const SETTINGS = S3_SETTINGS.all.map(({ name }) => name)

/** A destination as its row is read, with a column for each setting. */
export interface DestinationRow {
  readonly id: number
  readonly followerId: number
  readonly location: string
  readonly format: "ndjson" | "parquet"
  readonly sources: ReadonlyArray<number> | null
  readonly tag: string
  readonly createdAt: string
  readonly paused: boolean
  readonly hasCredentials: boolean
}

const ROW = `d.id::float8 AS id, d.follower_id::float8 AS "followerId", d.location, d.format, d.sources::float8[] AS sources, d.tag,
  cabinet.rfc3339(d.created_at) AS "createdAt", d.paused_at IS NOT NULL AS paused, d.credentials IS NOT NULL AS "hasCredentials",
  ${SETTINGS.map((name) => `d.${name}`).join(", ")}`

/** The parameters of the settings, from this number on. */
const parameters = (from: number) => SETTINGS.map((_, n) => `$${from + n}::text`).join(", ")

/** Destinations are created one after another, so that there are never too many. */
export const LOCK_CREATION = "LOCK TABLE cabinet.destination IN SHARE ROW EXCLUSIVE MODE"

/** $1: location, $2: sources. */
export const OBSTACLES = `
SELECT EXISTS (SELECT FROM cabinet.destination d WHERE d.location = $1::text) AS "exists",
  (SELECT count(*)::int4 FROM cabinet.destination) AS known,
  EXISTS (SELECT FROM unnest($2::int8[]) AS wanted(id)
    WHERE NOT EXISTS (SELECT FROM cabinet.source s WHERE s.id = wanted.id AND s.deleted_at IS NULL)) AS "lacksSource"`

/** $1: location, $2: format, $3: sources, $4: tag, $5 to $7: the place after which it begins, $8: credentials, then the settings. */
export const ADD = `
WITH follower AS (
  INSERT INTO cabinet.follower (kind, name, epoch, xid, event_id)
  VALUES ('${DESTINATION}', $1::text, $5::int8, $6::int8, $7::int8) RETURNING id
), d AS (
  INSERT INTO cabinet.destination (follower_id, location, format, sources, tag, created_at, credentials, ${SETTINGS.join(", ")})
  SELECT f.id, $1::text, $2::text, $3::int8[], $4::text, cabinet.now(), $8::text, ${parameters(9)} FROM follower f RETURNING *
)
SELECT ${ROW} FROM d`

export const LIST = `SELECT ${ROW} FROM cabinet.destination d ORDER BY d.id`

/** $1: id. */
export const PAUSE = `
UPDATE cabinet.destination SET paused_at = coalesce(paused_at, cabinet.now()) WHERE id = $1::int8 RETURNING id`

const changedAndDue = (change: string, condition = "") => `
WITH d AS (UPDATE cabinet.destination SET ${change} WHERE id = $1::int8${condition} RETURNING id, follower_id), due AS (
  UPDATE cabinet.follower f SET not_before = cabinet.now() FROM d WHERE f.id = d.follower_id AND f.not_before > cabinet.now()
)
SELECT id FROM d`

/** $1: id. A wait after a failure ends too. */
export const RESUME = changedAndDue("paused_at = NULL")

/** $1: id, $2: credentials, or null for the current ones, then the settings, then those before. */
export const CHANGE = changedAndDue(
  `credentials = coalesce($2::text, credentials), (${SETTINGS.join(", ")}) = ROW (${parameters(3)})`,
  ` AND (${SETTINGS.join(", ")}) IS NOT DISTINCT FROM (${parameters(3 + SETTINGS.length)})`,
)

/** $1: id, $2: tag. The current claim ends. */
export const RESTART = `
WITH d AS (
  UPDATE cabinet.destination SET tag = $2::text, planned_epoch = NULL, planned_xid = NULL, planned_id = NULL
  WHERE id = $1::int8 RETURNING id, follower_id
), moved AS (
  UPDATE cabinet.follower f SET epoch = ${FEED_START.epoch}, xid = ${FEED_START.xid}, event_id = ${FEED_START.id}, moved_at = NULL,
    lease = f.lease + 1, leased_until = cabinet.now(), not_before = cabinet.now(), failures = 0, error = NULL
  FROM d WHERE f.id = d.follower_id
)
SELECT id FROM d`

/** $1: id. */
export const OF_ID = `SELECT ${ROW}, d.credentials FROM cabinet.destination d WHERE d.id = $1::int8`

/** $1: id. */
export const REMOVE = `
DELETE FROM cabinet.follower f USING cabinet.destination d WHERE d.id = $1::int8 AND f.id = d.follower_id RETURNING f.id`

/** A destination with its credentials, as they are stored. */
export interface OpenRow extends DestinationRow {
  readonly credentials: string | null
}

/** A destination with the end of the slice that was begun last. */
export interface WorkRow extends OpenRow {
  readonly plannedEpoch: number | null
  readonly plannedXid: string
  readonly plannedId: number
}

/** $1: follower. No row if it is paused. */
export const WORK = `
SELECT ${ROW}, d.credentials, d.planned_epoch::float8 AS "plannedEpoch", d.planned_xid::text AS "plannedXid", d.planned_id::float8 AS "plannedId"
FROM cabinet.destination d WHERE d.follower_id = $1::int8 AND d.paused_at IS NULL`

/** $1: follower, $2 to $4: where the slice ends. */
export const PLAN = `
UPDATE cabinet.destination SET planned_epoch = $2::int8, planned_xid = $3::int8, planned_id = $4::int8 WHERE follower_id = $1::int8`

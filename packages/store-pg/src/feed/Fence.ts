/**
 * The fence of the feed. Every accept locks the table `cabinet.fence` in ROW SHARE mode from before it has a
 * transaction id until after its commit. A reader of the feed has to wait only for the holders of that lock. Only the
 * schema's owner has the right to take it, or a lock that conflicts with it.
 *
 * Decision: docs/decisions/0011-the-fence-is-read-from-pg-locks.md
 */
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { Effect } from "effect"
import { unavailable } from "../connection/StoreFailure.ts"
import type { Session } from "../connection/ReaderSessions.ts"

/**
 * Sessions show their transaction id in 32 bits, but positions in the feed need all 64: a cluster that has used more than
 * four billion ids starts again at small ones. Returns the full id, as SQL: of the ids with these low bits, the one nearest to `near`, a full id of the same moment. Ids in
 * use at the same time are never more than 2^31 apart, or PostgreSQL could not compare them itself. Both are int8.
 */
export const widenedXid = (low: string, near: string): string =>
  `${near} + ((${low} - ${near} % 4294967296 + 6442450944) % 4294967296 - 2147483648)`

/** A query without rows, for use within a statement: the statement then holds the fence before it begins. */
export const IN_FENCE = "SELECT FROM cabinet.fence FOR KEY SHARE"

/**
 * The holders of this database's fence as a `FROM` list: `f` is a lock on it, `a` its session. pg_locks lists other
 * databases' locks too.
 */
export const HOLDERS = `pg_locks f JOIN pg_stat_activity a ON a.pid = f.pid
  WHERE f.granted AND f.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND f.locktype = 'relation' AND f.relation = 'cabinet.fence'::regclass AND f.mode = 'RowShareLock'`

/**
 * Whether `e` is the event that a position names, as SQL over the parts of the position. A database that was restored to
 * an earlier state assigns the same transaction ids and event ids again, so another event may have the very same
 * position: only the time of receipt distinguishes them. It is in microseconds since 2000, or 0 if the position lacks it.
 */
export const isEventOf = (epoch: string, xid: string, id: string, receivedAt: string): string =>
  `e.id = ${id} AND e.epoch = ${epoch} AND e.xid = ${xid} AND (${receivedAt} = 0
    OR e.received_at = '2000-01-01 00:00:00+00'::timestamptz + ${receivedAt} * interval '1 microsecond')`

/**
 * The watermark: the first position that a page must not show yet, as an epoch and a transaction id in it.
 *
 * The statement's snapshot, and with it `xmax`, is taken before the lock table and the sessions are read. An accept
 * below the bound either held the fence when they were read, and is then excluded by the bound, or had finished by then
 * and is visible to the next snapshot. One without a transaction id will get one at or above `xmax`. The id is read
 * from the session, not from its lock in `pg_locks`, which appears a moment after the id. A holder whose session this
 * role may not see counts with the oldest id still running.
 *
 * If the last epoch belongs to another server, this one has accepted nothing: every event in it was committed in an
 * earlier life, however high its id, and the bound is the next epoch, which has not begun. A standby cannot see which
 * sessions are accepting on its primary: `standby` is true there, and the bound is meaningless.
 *
 * `there` says whether the event at the client's position ($1, $2, $3), received at $4, has a row. Events are never
 * removed, so if it is in no file either, the database was set back since the client saw it. `cold` is the version of the list of
 * files.
 */
export const WATERMARK = `
WITH now AS MATERIALIZED (
  SELECT pg_snapshot_xmax(s)::text::int8 AS xmax, pg_snapshot_xmin(s)::text::int8 AS xmin FROM pg_current_snapshot() s
), last AS MATERIALIZED (
  SELECT epoch, server_started = pg_postmaster_start_time() AS ours FROM cabinet.epoch ORDER BY epoch DESC LIMIT 1
), holders AS (
  SELECT a.backend_xid::text::int8 AS xid,
         pg_has_role(a.usesysid, 'USAGE') OR pg_has_role('pg_read_all_stats', 'USAGE') AS seen
  FROM ${HOLDERS}
)
SELECT pg_is_in_recovery() AS standby,
       coalesce((SELECT CASE WHEN ours THEN epoch ELSE epoch + 1 END FROM last), 1)::text AS epoch,
       CASE WHEN (SELECT ours FROM last) THEN
         least(now.xmax,
               (SELECT min(${widenedXid("xid", "now.xmax")}) FROM holders WHERE seen),
               CASE WHEN EXISTS (SELECT FROM holders WHERE seen IS NOT TRUE) THEN now.xmin END)
       ELSE 0 END::text AS bound,
       $1::int8 = 0 OR EXISTS (SELECT FROM cabinet.event e WHERE ${isEventOf("$1::int8", "$2::int8", "$3::int8", "$4::int8")}) AS there,
       (SELECT version FROM cabinet.cold_state)::text AS cold
FROM now`

/**
 * Reads the watermark of the feed, as a client at a place sees it.
 *
 * Decision: docs/decisions/0012-an-epoch-is-a-life-of-a-server-process.md
 */
export interface Watermark {
  /** The first position that must not be shown yet: an epoch and a transaction id in it. */
  readonly epoch: string
  readonly bound: string
  /** Whether the event at the client's place has a row. */
  readonly there: boolean
  /** The version of the list of files; 0 if there has never been one. */
  readonly cold: string
}

/** Fails on a standby, which cannot know what its primary is about to commit. */
export const watermark = (session: Session, { epoch, xid, id, receivedAt = 0n }: FeedPlace) =>
  Effect.flatMap(session.queryValues(WATERMARK, [epoch, xid, id, receivedAt]), ([row]) => {
    const [standby, epochNow, bound, there, cold] = row as [boolean, string, string, boolean, string]
    const mark: Watermark = { epoch: epochNow, bound, there, cold }
    return standby
      ? unavailable("This database is a standby, which cannot tell what its primary is about to commit.")
      : Effect.succeed(mark)
  })

/**
 * The fence of the feed. Every accept locks the table `cabinet.fence` in ROW SHARE mode, from before it has a transaction
 * id until after its commit; whoever holds that lock is all that a reader of the feed has to wait for. Nobody but the
 * schema's owner has the right to take it, nor one that is in its way.
 */
import { widenedXid } from "./WidenedXid.ts"

/** A query without rows, to be part of a statement: the statement then holds the fence before it begins. */
export const IN_FENCE = "SELECT FROM cabinet.fence FOR KEY SHARE"

/** Who holds the fence of this database, as a `FROM` list: `f` a lock of it, `a` its session. Other databases' are listed too. */
export const HOLDERS = `pg_locks f JOIN pg_stat_activity a ON a.pid = f.pid
  WHERE f.granted AND f.database = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND f.locktype = 'relation' AND f.relation = 'cabinet.fence'::regclass AND f.mode = 'RowShareLock'`

/**
 * Whether `e` is the event that a place names, as SQL over the place's parts. A database that was set back draws the same
 * transaction ids and event ids again, so another event may stand at the very place: only the moment of receipt tells
 * them apart. In microseconds since 2000; 0 where the place does not tell it.
 */
export const isEventOf = (epoch: string, xid: string, id: string, receivedAt: string): string =>
  `e.id = ${id} AND e.epoch = ${epoch} AND e.xid = ${xid} AND (${receivedAt} = 0
    OR e.received_at = '2000-01-01 00:00:00+00'::timestamptz + ${receivedAt} * interval '1 microsecond')`

/**
 * The first position that a page must not show yet: an epoch, and a transaction id in it.
 *
 * The statement's snapshot, and with it `xmax`, is taken before the lock table and the sessions are read. An accept below
 * the bound either held the fence when they were read, which bounds it out, or had finished by then and is visible to the
 * next snapshot; one without a transaction id will get one at or above `xmax`. The id is read off the session and not off
 * its lock in `pg_locks`, which appears a moment after the id. A holder whose session this role may not see counts with
 * the oldest id still running.
 *
 * Where the last epoch is another server's, this one has accepted nothing: whatever is there was finished in an earlier
 * life, however high its ids are, and the next epoch, not begun yet, is the bound. A standby cannot say who is accepting
 * on its primary: `standby` is true there, and the bound means nothing.
 *
 * `there` says whether the event of the place ($1, $2, $3) that a client comes from, received at $4, is in this database.
 * Events are never taken out, so where it is not, the database was set back since the client saw it.
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
       $1::int8 = 0 OR EXISTS (SELECT FROM cabinet.event e WHERE ${isEventOf("$1::int8", "$2::int8", "$3::int8", "$4::int8")}) AS there
FROM now`

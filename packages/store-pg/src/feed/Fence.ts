/**
 * The fence of the feed. Every accept holds this advisory lock, shared, from before it has a transaction id until after
 * its commit; whoever holds it is all that a reader of the feed has to wait for.
 */

/** Two-part advisory key: its own space beside the one-part keys that equal bodies queue on. */
export const FENCE = { classId: 1_684_235_107, objectId: 1 } as const

/**
 * The first transaction id that a page must not show yet, and the epoch it belongs to.
 *
 * The statement's snapshot, and with it `xmax`, is taken before the lock table and the sessions are read. An accept below
 * the bound either held the fence when they were read, which bounds it out, or had finished by then and is visible to the
 * next snapshot; one without a transaction id will get one at or above `xmax`. The id is read off the session and not off
 * its lock in `pg_locks`, which appears a moment after the id. Locks of other databases are listed too and left out. A
 * holder whose session this role may not see counts with the oldest id still running. Session ids have 32 bits and are
 * widened against `xmax`.
 */
export const FENCE_BOUND = `
WITH now AS MATERIALIZED (
  SELECT pg_snapshot_xmax(s)::text::int8 AS xmax, pg_snapshot_xmin(s)::text::int8 AS xmin FROM pg_current_snapshot() s
), holders AS (
  SELECT a.backend_xid::text::int8 AS xid,
         pg_has_role(a.usesysid, 'USAGE') OR pg_has_role('pg_read_all_stats', 'USAGE') AS seen
  FROM pg_locks f JOIN pg_stat_activity a ON a.pid = f.pid
  WHERE f.locktype = 'advisory' AND f.objsubid = 2 AND f.classid = ${FENCE.classId} AND f.objid = ${FENCE.objectId}
    AND f.database = (SELECT oid FROM pg_database WHERE datname = current_database())
)
SELECT (SELECT max(epoch) FROM cabinet.epoch)::int4 AS epoch,
       least(now.xmax,
             (SELECT min(now.xmax + ((xid - now.xmax % 4294967296 + 6442450944) % 4294967296 - 2147483648))
              FROM holders WHERE seen),
             CASE WHEN EXISTS (SELECT FROM holders WHERE NOT seen) THEN now.xmin END)::text AS bound
FROM now`

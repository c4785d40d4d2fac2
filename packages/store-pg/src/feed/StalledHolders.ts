/**
 * Terminates sessions that hold the fence while they wait for their client: an accept whose last bytes never arrived,
 * because its server process froze or its machine is gone. An accept is one statement, so it waits for its client only
 * for the moment in which the end of its message is read. One found waiting in two successive checks is terminated.
 * Nothing is lost: no sender got a receipt for it.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { HOLDERS } from "./Fence.ts"

/**
 * Holders that wait for their client and that this role may terminate. `began` distinguishes the transactions of one
 * session.
 */
const STALLED = `${HOLDERS} AND a.backend_xid IS NOT NULL AND a.wait_event = 'ClientRead'
  AND pg_has_role(a.usesysid, 'USAGE')`

const FIND = `SELECT DISTINCT a.pid, a.xact_start::text AS began FROM ${STALLED}`

/**
 * $1: the process id, $2: when its transaction began. The condition is checked again, because it may have continued
 * meanwhile.
 */
const END = `
SELECT pid, application_name AS application, pg_terminate_backend(pid) AS ended
FROM (SELECT DISTINCT a.pid, a.application_name FROM ${STALLED} AND a.pid = $1 AND a.xact_start::text = $2) stalled`

interface Stalled {
  readonly pid: number
  readonly began: string
}

/** Returns the periodic check: it terminates the sessions that have stalled since the previous check, and logs them. */
export const stalledHolders = () => {
  let before: ReadonlyArray<Stalled> = []
  return Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const now = yield* sql.unsafe<Stalled>(FIND)
    const still = now.filter(({ pid, began }) => before.some((one) => one.pid === pid && one.began === began))
    before = now
    for (const { pid, began } of still) {
      const [ended] = yield* sql.unsafe<{ application: string; ended: boolean }>(END, [pid, began])
      if (ended === undefined) continue
      yield* Effect.logWarning(
        `the feed was held back by process ${pid} (${ended.application}) since ${began}, which waited for its client: ${ended.ended ? "ended it" : "it could not be ended"}`,
      )
    }
  })
}

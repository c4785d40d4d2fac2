/**
 * Ends sessions that hold the fence and wait for their client: an accept whose last bytes never arrived, since its server
 * froze or its machine is gone. An accept is one statement, so none waits for its client but for the moment in which the
 * end of its message is read; one that was found waiting at two looks is ended. Nothing is lost by it: nobody was told
 * that it was committed.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { HOLDERS } from "./Fence.ts"

/** That wait for their client, and that this role may end; `began` tells one transaction of a session from the next. */
const STALLED = `${HOLDERS} AND a.backend_xid IS NOT NULL AND a.wait_event = 'ClientRead'
  AND pg_has_role(a.usesysid, 'USAGE')`

const FIND = `SELECT DISTINCT a.pid, a.xact_start::text AS began FROM ${STALLED}`

/** $1 the process, $2 when its transaction began; asked once more, for it may have gone on meanwhile. */
const END = `
SELECT pid, application_name AS application, pg_terminate_backend(pid) AS ended
FROM (SELECT DISTINCT a.pid, a.application_name FROM ${STALLED} AND a.pid = $1 AND a.xact_start::text = $2) stalled`

interface Stalled {
  readonly pid: number
  readonly began: string
}

/** What is to be run at each look: it ends what has stalled since the look before, and says so in the log. */
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

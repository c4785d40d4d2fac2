/**
 * Lets old daily partitions of the attempt log go. A plain DROP would make every settlement wait behind a long reader;
 * `DETACH … CONCURRENTLY` waits alone, on a connection of its own, and what was detached is then dropped. A run that was
 * cut short is finished by the next.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { OLD_PARTITIONS, ORPHANED_PARTITIONS } from "./DeliveryStatement.ts"

/** Waiting for readers longer than this is left to the next run. */
const DETACH_LIMIT = "60s"

/** Answers how many partitions were dropped. */
export const pruneAttempts = (sql: PgClient.PgClient, parent: "attempt_delivered" | "attempt_failed", days: number) =>
  Effect.gen(function* () {
    const old = yield* orUnavailable(
      sql.unsafe<{ readonly name: string; readonly pending: boolean }>(OLD_PARTITIONS, [`cabinet.${parent}`, days]),
    )
    if (old.length > 0) {
      yield* Effect.scoped(
        Effect.gen(function* () {
          const session = yield* sql.reserve
          yield* session.execute(`SET statement_timeout = '${DETACH_LIMIT}'`, [], undefined)
          yield* Effect.addFinalizer(() => Effect.ignore(session.execute("RESET statement_timeout", [], undefined)))
          for (const { name, pending } of old) {
            const how = pending ? "FINALIZE" : "CONCURRENTLY"
            yield* session.execute(
              `ALTER TABLE cabinet.${parent} DETACH PARTITION cabinet."${name}" ${how}`,
              [],
              undefined,
            )
          }
        }),
      ).pipe(
        Effect.catchTag("SqlError", (error) =>
          Effect.logWarning("A partition of the attempt log could not be let go yet.", error),
        ),
      )
    }
    const loose = yield* orUnavailable(sql.unsafe<{ readonly name: string }>(ORPHANED_PARTITIONS, [parent]))
    for (const { name } of loose) yield* orUnavailable(sql.unsafe(`DROP TABLE IF EXISTS cabinet."${name}"`))
    return loose.length
  })

/** Holds an accept open while a test observes something else. */
import { acceptStatement } from "@data-cabinet/store-pg/event/AcceptStatement"
import { planBatch } from "@data-cabinet/store-pg/event/BatchPlan"
import { bodyKeys } from "@data-cabinet/store-pg/event/BodyLocks"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { requestOf } from "./acceptRequest.ts"

/** The statement that accepts one event. */
export const acceptOf = (sourceId: number, body: string) =>
  acceptStatement(
    planBatch(
      [requestOf(sourceId, body, false)],
      () => ({ table: undefined, waits: false }),
      bodyKeys("00".repeat(32)),
    ),
  )

/** Accepts an event on a separate session, and runs `meanwhile` before the commit. */
export const whileAccepting = <A, E, R>(sourceId: number, body: string, meanwhile: Effect.Effect<A, E, R>) =>
  PgClient.PgClient.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        const { text, values } = acceptOf(sourceId, body)
        yield* sql.unsafe(text, values)
        return yield* meanwhile
      }),
    ),
  )

/** The rate limits of keys and of intake, counted in PostgreSQL (see RequestCounter). */
import { background } from "@data-cabinet/core/runtime/Background"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import { PgClient } from "@effect/sql-pg"
import { Clock, Context, Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { DELETE_BATCH, DELETE_WINDOWS, NOTE_LAST_READS, NOTE_LAST_REQUESTS } from "./CountStatement.ts"
import { RequestCounter, type RateLimiterOptions } from "./RequestCounter.ts"

/** Deletes all windows of past minutes, in batches; the times of last requests are kept, and so not written by a shared session. */
export const deleteWindows = Effect.gen(function* () {
  const sql = yield* StatementClient
  const writing = yield* PgClient.PgClient
  yield* writing.unsafe(NOTE_LAST_REQUESTS)
  yield* writing.unsafe(NOTE_LAST_READS)
  for (let forgotten = DELETE_BATCH; forgotten === DELETE_BATCH;) {
    forgotten = (yield* sql.unsafe(DELETE_WINDOWS)).length
  }
})

export const layer = (options: RateLimiterOptions) =>
  Layer.effect(
    RateLimiter,
    Effect.gen(function* () {
      const sql = yield* StatementClient
      const counter = yield* RequestCounter.make({
        sql,
        options,
        clock: yield* Clock.Clock,
        context: yield* Effect.context(),
        scope: yield* Effect.scope,
      })
      const clients = Context.make(StatementClient, sql).pipe(Context.add(PgClient.PgClient, yield* PgClient.PgClient))
      const forget = Effect.andThen(counter.forget, Effect.provide(deleteWindows, clients))
      yield* background("rate window cleanup", "1 minute", forget, { firstAfter: "1 minute", quiet: true })
      return RateLimiter.of({
        key: (fingerprint, deadline) => counter.key(fingerprint, deadline),
        intake: (ip, sourceId, deadline, rate) => counter.intake(ip, sourceId, deadline, rate),
      })
    }),
  )

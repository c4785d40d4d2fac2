/** The rate limits of keys and of intake, counted in PostgreSQL (see RequestCounter). */
import { background } from "@data-cabinet/core/runtime/Background"
import { RateLimiter } from "@data-cabinet/core/limit/RateLimiter"
import { Clock, Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { DELETE_BATCH, DELETE_WINDOWS, NOTE_LAST_REQUESTS } from "./CountStatement.ts"
import { RequestCounter, type RateLimiterOptions } from "./RequestCounter.ts"

/** Deletes all windows of past minutes, in batches. */
export const deleteWindows = Effect.gen(function* () {
  const sql = yield* StatementClient
  yield* sql.unsafe(NOTE_LAST_REQUESTS)
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
      const forget = Effect.andThen(counter.forget, Effect.provideService(deleteWindows, StatementClient, sql))
      yield* background("rate window cleanup", "1 minute", forget, { firstAfter: "1 minute", quiet: true })
      return RateLimiter.of({
        key: (fingerprint, deadline) => counter.key(fingerprint, deadline),
        intake: (ip, sourceId, deadline) => counter.intake(ip, sourceId, deadline),
      })
    }),
  )

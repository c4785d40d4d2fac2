/** Counts per minute in the same table as the rates of keys and of the intake. */
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"
import { COUNT_SUBJECT } from "./CountStatement.ts"
import { RateWindows } from "@data-cabinet/core/limit/RateLimiter"

export const layer = Layer.effect(
  RateWindows,
  Effect.map(PgClient.PgClient, (sql) =>
    RateWindows.of({
      count: (subject, limit) =>
        sql.unsafe<{ readonly count: number; readonly left_ms: number }>(COUNT_SUBJECT, [subject]).pipe(
          Effect.map(([row]) => ({
            allowed: row!.count <= limit,
            limit,
            remaining: Math.max(0, limit - row!.count),
            retryAfter: Math.max(1, Math.ceil(row!.left_ms / 1000)),
          })),
          orUnavailable,
        ),
    }),
  ),
)

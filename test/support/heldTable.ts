/** A reader that keeps a table from being replaced. */
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Fiber, Redacted } from "effect"

/** Reads the table in a transaction that ends with the returned value. With another mode, others cannot even read it. */
export const heldTable = async (
  url: string,
  table: string,
  mode: "ACCESS SHARE" | "ACCESS EXCLUSIVE" = "ACCESS SHARE",
): Promise<AsyncDisposable> => {
  const held = Effect.runSync(Deferred.make<void>())
  const hold = PgClient.PgClient.use((sql) =>
    sql.withTransaction(
      Effect.andThen(sql.unsafe(`LOCK TABLE ${table} IN ${mode} MODE`), () =>
        Effect.andThen(Deferred.succeed(held, undefined), Effect.never),
      ),
    ),
  )
  const fiber = Effect.runFork(
    Effect.provide(hold, PgClient.layer({ url: Redacted.make(url), maxConnections: 1 })).pipe(
      Effect.onError((cause) => Deferred.failCause(held, cause as never)),
    ),
  )
  await Effect.runPromise(Deferred.await(held))
  return { [Symbol.asyncDispose]: () => Effect.runPromise(Effect.asVoid(Fiber.interrupt(fiber))) }
}

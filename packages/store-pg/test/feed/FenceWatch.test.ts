import { LiveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { watchFence, fenceHolders } from "@data-cabinet/store-pg/feed/FenceWatch"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()

const client = (url: string, applicationName: string) =>
  PgClient.layer({ url: Redacted.make(url), maxConnections: 1, applicationName })

/** Runs `look` as the owner while a session of the given login holds the fence with a transaction id. */
const whileHeld = <A, E>(url: string, look: Effect.Effect<A, E, PgClient.PgClient>) =>
  PgClient.PgClient.use((sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`LOCK TABLE cabinet.fence IN ROW SHARE MODE`
        const [me] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid, pg_current_xact_id()::text`
        const seen = yield* Effect.provide(look, client(database.url, "looking"), { local: true })
        return { pid: me!.pid, seen }
      }),
    ),
  ).pipe(Effect.provide(client(url, "a slow import")), Effect.runPromise)

it("fenceHolders names the sessions that hold the feed back, and since when", async () => {
  const { pid, seen } = await whileHeld(database.url, fenceHolders)
  assert.lengthOf(seen, 1)
  const [holder] = seen
  assert.deepStrictEqual({ pid: holder!.pid, application: holder!.application }, { pid, application: "a slow import" })
  assert.match(holder!.since!, /^20[0-9-]+T[0-9:.]+Z$/)
  assert.isAtLeast(holder!.seconds, 0)
})

it("fenceHolders names the process of a session that its user may not inspect", async () => {
  const { pid, seen } = await whileHeld(database.superuserUrl, fenceHolders)
  assert.deepStrictEqual(
    seen.map((holder) => [holder.pid, holder.since]),
    [[pid, null]],
  )
})

it("watchFence shows the holder in the metrics, and zeros once it has gone", async () => {
  const look = Effect.andThen(watchFence(new LiveGauges()), PrometheusMetrics.format({ prefix: "cabinet" }))
  const { pid, seen } = await whileHeld(database.url, look)
  const series = (text: string, name: string) =>
    new RegExp(`^cabinet_feed_fence_${name}\\{database="${database.name}"\\} (\\S+)$`, "m").exec(text)?.[1]
  assert.deepStrictEqual([series(seen, "holders"), series(seen, "pid")], ["1", String(pid)])
  const after = await Effect.runPromise(Effect.provide(look, client(database.url, "looking")))
  assert.deepStrictEqual([series(after, "holders"), series(after, "pid"), series(after, "seconds")], ["0", "0", "0"])
})

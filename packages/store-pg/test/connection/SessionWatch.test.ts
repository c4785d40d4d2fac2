import { LiveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { watchSessions } from "@data-cabinet/store-pg/connection/SessionWatch"
import { PgClient } from "@effect/sql-pg"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { PrometheusMetrics } from "effect/observability"
import { withDatabase } from "../../../../test/support/postgres.ts"

const database = withDatabase()

/** The sessions in use and the limit, as the metrics show them while three sessions are open. */
const look = async () => {
  const watched = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    yield* sql.reserve
    yield* sql.reserve
    yield* watchSessions(new LiveGauges())
    return yield* PrometheusMetrics.format({ prefix: "cabinet" })
  })
  const client = PgClient.layer({ url: Redacted.make(database.url), maxConnections: 3 })
  const text = await Effect.runPromise(Effect.provide(Effect.scoped(watched), client))
  const series = (name: string) =>
    Number(new RegExp(`^cabinet_database_${name}\\{database="${database.name}"\\} (\\S+)$`, "m").exec(text)?.[1])
  return { used: series("sessions"), limit: series("sessions_limit") }
}

it("watchSessions shows the limit that leaves the fewest sessions, and how many are in use under it", async () => {
  const [server] = await database.run(
    `SELECT current_setting('max_connections')::int4 - current_setting('superuser_reserved_connections')::int4
       - coalesce(current_setting('reserved_connections', true), '0')::int4 AS most`,
  )
  const ofServer = await look()
  assert.isAtLeast(ofServer.used, 3)
  assert.strictEqual(ofServer.limit, server!["most"])
  await database.run(`ALTER DATABASE "${database.name}" CONNECTION LIMIT 30`)
  const ofDatabase = await look()
  await database.run(`ALTER DATABASE "${database.name}" CONNECTION LIMIT -1`)
  assert.isAtLeast(ofDatabase.used, 3)
  assert.strictEqual(ofDatabase.limit, 30)
})

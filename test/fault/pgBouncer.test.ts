/**
 * A cabinet behind a real PgBouncer. With session pooling everything works, whether PgBouncer refuses the settings of a
 * session or silently drops them. Transaction pooling is detected at the start and refused with a message.
 */
import { runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { listenForHints } from "@data-cabinet/store-pg/connection/Hints"
import { openCabinet } from "data-cabinet"
import { openDatabase } from "data-cabinet/compose/OpenDatabase"
import { Deferred, Effect, Exit, Scope } from "effect"
import { PgClient } from "@effect/sql-pg"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { hasPgBouncer, type PgBouncer, startPgBouncer } from "../support/pgBouncer.ts"
import * as SessionSettings from "@data-cabinet/store-pg/connection/SessionSettings"

const DATABASE = "orders"
const OWNER = "cabinet"
const USERS = [OWNER, `cabinet_${DATABASE}_reader`, `cabinet_${DATABASE}_author`]

const DROPPED = [...SessionSettings.PINNED].join(", ")

let home: ClusterHome
let cluster: TestCluster
const bouncers: Array<PgBouncer> = []

const bouncer = async (settings: Readonly<Record<string, string | number>>) => {
  const started = await startPgBouncer(home, cluster, USERS, settings)
  bouncers.push(started)
  return started.url(OWNER, DATABASE)
}

beforeAll(async () => {
  home = clusterHome()
  cluster = await home.init("pooled")
  await cluster.start()
  await cluster.createDatabase(DATABASE)
})
afterAll(async () => {
  for (const each of bouncers) await each.end()
  await home.remove()
})

it("PostgreSQL itself is not mistaken for a pooler", async () => {
  const { roles } = await Effect.runPromise(openDatabase({ url: cluster.url(DATABASE) }))
  assert.isTrue(roles.reader.there)
})

// If it is not installed, .ci/run reports that these tests did not run.
if (hasPgBouncer) {
  describe.each([
    ["refuses", {}],
    ["drops", { ignore_startup_parameters: DROPPED }],
  ] as const)("session pooling that %s the settings of a session", (_, settings) => {
    let url: string
    beforeAll(async () => {
      url = await bouncer({ pool_mode: "session", ...settings })
    })

    it("lets a cabinet accept events, read rows and the feed, and run a script", async () => {
      const cabinet = await openCabinet({ databaseUrl: `${url}?options=-c%20work_mem%3D5MB`, delivery: false })
      try {
        const source = await cabinet.sources.create({ name: `Orders ${crypto.randomUUID()}` })
        await cabinet.intake(source.id, { fields: { total: "12.50" } })
        const events: Array<unknown> = []
        for await (const event of cabinet.feed({ sourceId: source.id })) events.push(event.payload)
        assert.deepStrictEqual(events, [{ total: "12.50" }])
      } finally {
        await cabinet.close()
      }
      const { roles } = await Effect.runPromise(openDatabase({ url }))
      if (!roles.reader.there || !roles.author.there) throw new Error("no roles")
      const script = "SELECT 0.1::float8 + 0.2::float8 AS sum, current_user AS login"
      const [outcome] = await Effect.runPromise(
        runScript({ url: roles.author.url, admittedBy: url, script, transaction: true }),
      )
      assert.deepStrictEqual(outcome!.rows, [`{"sum":0.30000000000000004,"login":"${USERS[2]}"}`])
    })

    it("gives every session its search path and the URL's options", async () => {
      const shown = await PgClient.PgClient.use(
        (sql) => sql`SELECT current_setting('search_path') AS path, current_setting('work_mem') AS memory`,
      ).pipe(Effect.provide(OwnerClient.layer({ url: `${url}?options=-c%20work_mem%3D5MB` })), Effect.runPromise)
      assert.deepStrictEqual(shown, [{ path: "pg_catalog, pg_temp", memory: "5MB" }])
    })

    it("passes notifications on to listeners", async () => {
      const heard = await Effect.gen(function* () {
        const listening = yield* Deferred.make<void>()
        const payload = yield* Deferred.make<string>()
        const scope = yield* Scope.make()
        yield* listenForHints({
          channel: "hint",
          isHint: () => true,
          onListening: Effect.asVoid(Deferred.succeed(listening, undefined)),
          work: (payloads) => Effect.asVoid(Deferred.succeed(payload, [...payloads].join())),
        }).pipe(Effect.forkIn(scope))
        yield* Deferred.await(listening)
        yield* PgClient.PgClient.use((sql) => sql.notify("hint", "one"))
        const got = yield* Deferred.await(payload)
        yield* Scope.close(scope, Exit.void)
        return got
      }).pipe(Effect.provide(OwnerClient.layer({ url })), Effect.runPromise)
      assert.strictEqual(heard, "one")
    })
  })

  it.each([
    ["transaction", {}],
    ["transaction", { server_round_robin: 1 }],
    ["transaction", { default_pool_size: 1 }],
    ["transaction", { ignore_startup_parameters: DROPPED }],
    ["statement", {}],
  ] as const)("%s pooling with %j is refused with a message that says what to use", async (mode, settings) => {
    const url = await bouncer({ pool_mode: mode, ...settings })
    const { code, message } = await Effect.runPromise(Effect.flip(openDatabase({ url }, 60_000)))
    assert.strictEqual(code, "database_unfit")
    assert.match(message, /uses transaction pooling.*use session pooling \(PgBouncer: pool_mode = session\)/)
  })
}

/** An unused session that its check refuses is replaced, and no request fails. */
import { type SessionGroup, sessionGroup } from "@data-cabinet/store-pg/connection/SessionGroup"
import * as SessionPool from "@data-cabinet/store-pg/connection/SessionPool"
import * as SessionSettings from "@data-cabinet/store-pg/connection/SessionSettings"
import { sqlMessage } from "@data-cabinet/store-pg/connection/StoreFailure"
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber } from "effect"
import { afterEach, assert, beforeEach, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { databaseUrl, runSql, superuser } from "../../../../test/support/postgresAdmin.ts"

const database = withDatabase()
/** From another database, because this one is read-only meanwhile. */
const elsewhere = (statement: string) => runSql(databaseUrl(database.socketDir, superuser, "postgres"), statement)
const setReadOnly = () => elsewhere(`ALTER DATABASE ${database.name} SET default_transaction_read_only = on`)
const reset = () => elsewhere(`ALTER DATABASE ${database.name} RESET default_transaction_read_only`)

let group: SessionGroup
let opened: number
beforeEach(async () => {
  group = sessionGroup(database.url, "data-cabinet replaced")
  opened = 0
  await database.run("CREATE TABLE public.work (done boolean)")
  await database.run("GRANT ALL ON public.work TO PUBLIC")
  await setReadOnly()
})
afterEach(async () => {
  await reset()
  await database.run("DROP TABLE public.work")
})

const poolOf = (multiplex: boolean): SessionPool.SessionPoolOptions => ({
  url: database.url,
  maxConnections: 3,
  multiplex,
  settings: multiplex ? SessionSettings.ownerShared : SessionSettings.owner,
  applicationName: group.applicationName,
  stream: () => {
    opened++
    return group.stream()
  },
})

const isOneIdle = async (): Promise<boolean> => {
  const idle = await elsewhere(
    `SELECT FROM pg_stat_activity WHERE application_name = '${group.applicationName}' AND state = 'idle'`,
  )
  return idle.length > 0
}

/** A pool opens the session that a caller asked for even if the caller leaves meanwhile: nobody checks it before the next. */
const untilOneIsIdle = <E>(work: Effect.Effect<unknown, E>) =>
  Effect.gen(function* () {
    while (!(yield* Effect.promise(isOneIdle))) {
      const before = opened
      const caller = yield* Effect.forkChild(work)
      while (opened === before && caller.pollUnsafe() === undefined) yield* Effect.yieldNow
      yield* Fiber.interrupt(caller)
    }
  })

const INSERT = "INSERT INTO public.work (done) VALUES (true)"

/** The ways to work in a pool, each once. */
const WAYS = {
  statement: (sql: PgClient.PgClient) => sql.unsafe(INSERT),
  transaction: (sql: PgClient.PgClient) => sql.withTransaction(sql.unsafe(INSERT)),
  session: (sql: PgClient.PgClient) => Effect.scoped(Effect.flatMap(sql.reserve, (own) => own.executeRaw(INSERT, []))),
}

const eight = <A, E>(work: Effect.Effect<A, E>) =>
  Effect.all(
    Array.from({ length: 8 }, () => work),
    { concurrency: 8 },
  )

it.each([
  ["statement", false],
  ["statement", true],
  ["transaction", false],
  ["transaction", true],
  ["session", false],
] as const)("a %s runs in a multiplexed pool after a setting was reset: %s", async (way, multiplex) => {
  await Effect.gen(function* () {
    const work = WAYS[way](yield* PgClient.PgClient)
    const refused = yield* Effect.flip(work)
    assert.match(sqlMessage(refused), /default_transaction_read_only is "on" instead of "off"/)
    yield* untilOneIsIdle(work)
    yield* Effect.promise(reset)
    yield* eight(work)
  }).pipe(Effect.provide(SessionPool.layer(poolOf(multiplex))), Effect.runPromise)
  assert.lengthOf(await database.run("SELECT FROM public.work"), 8)
})

it("sessions lent whole are replaced when a setting was reset", async () => {
  await Effect.gen(function* () {
    const sessions = yield* SessionPool.lentSessions(poolOf(false))
    const work = sessions.use((session) => session.query(INSERT))
    yield* Effect.flip(work)
    yield* untilOneIsIdle(work)
    yield* Effect.promise(reset)
    yield* eight(work)
  }).pipe(Effect.scoped, Effect.runPromise)
  assert.lengthOf(await database.run("SELECT FROM public.work"), 8)
})

it("a request opens few sessions and does no work when every session is refused", async () => {
  await Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    for (let count = 0; count < 10; count++) yield* Effect.flip(sql.unsafe(INSERT))
  }).pipe(Effect.provide(SessionPool.layer(poolOf(false))), Effect.runPromise)
  assert.isAtMost(opened, 31)
  assert.lengthOf(await database.run("SELECT FROM public.work"), 0)
})

it("work that has begun is not repeated if it fails the way an unfit session does", async () => {
  await reset()
  let begun = 0
  await Effect.gen(function* () {
    const sessions = yield* SessionPool.lentSessions(poolOf(false))
    const inner = Effect.scoped(
      Effect.andThen(
        Effect.promise(setReadOnly),
        Effect.flatMap(SessionPool.lentSessions(poolOf(false)), (others) =>
          others.use((session) => session.query(INSERT)),
        ),
      ),
    )
    yield* Effect.flip(
      sessions.use(() => {
        begun++
        return inner
      }),
    )
  }).pipe(Effect.scoped, Effect.runPromise)
  assert.strictEqual(begun, 1)
})

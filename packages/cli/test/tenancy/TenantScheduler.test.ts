/** The cost of a round over many cabinets: statements, and visits to their databases. Counted, not timed. */
import { type AddressInfo, createServer, type Server } from "node:net"
import { knownCabinets } from "@data-cabinet/core/tenancy/KnownCabinets"
import { RegistryStore } from "@data-cabinet/core/tenancy/RegistryStore"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as PgRegistryStore from "@data-cabinet/store-pg/tenancy/PgRegistryStore"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, assert, beforeEach, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"
import { tenantScheduler, type TenantWork } from "../../src/tenancy/TenantScheduler.ts"
import type { TenantPool } from "../../src/tenancy/TenantPool.ts"

const CABINETS = 20_000
/** The page size of the registry. */
const PAGE = 250
/** The cabinets that are due, whose databases are checked. */
const DUE = 40
const WORK: TenantWork = {
  kept: { originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 },
  polls: true,
}

let database: TestDatabase
let server: Server
let visits: number
const counts = { statements: 0, rounds: 0 }

beforeEach(async () => {
  database = await testDatabase()
  visits = 0
  server = createServer((socket) => {
    visits++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  Object.assign(counts, { statements: 0, rounds: 0 })
})
afterEach(async () => {
  server.close()
  await database.drop()
})

const add = (first: number, last: number) =>
  database.run(`INSERT INTO cabinet.registered_cabinet (name, database_url)
    SELECT 'c' || n, 'postgres://nobody@127.0.0.1:${(server.address() as AddressInfo).port}/c' || n FROM generate_series(${first}, ${last}) n`)

const counted = Layer.effect(
  RegistryStore,
  Effect.map(RegistryStore, (store) => {
    const one = <A, E>(statement: Effect.Effect<A, E>) =>
      Effect.andThen(
        Effect.sync(() => counts.statements++),
        statement,
      )
    return RegistryStore.of({
      ...store,
      position: one(store.position),
      page: (after) => one(store.page(after)),
      entries: (names) => one(store.entries(names)),
      changes: (since, from) => one(store.changes(since, from)),
    })
  }),
)

const pool = Effect.gen(function* () {
  const known = yield* knownCabinets(() => Effect.void)
  const many: TenantPool = {
    find: () => Promise.reject(new Error("no request comes")),
    hold: () => Effect.void,
    isOpen: () => Effect.succeed(false),
    open: Effect.sync(() => {
      counts.rounds++
      return []
    }),
    known: known.all,
    reload: known.refresh,
    reloadWhole: known.readWhole,
  }
  return many
})

const until = (isSo: () => boolean) =>
  Effect.promise(async () => {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
  })

const settled = async () =>
  (
    await database.run(`SELECT name, extract(epoch FROM due_at - cabinet.now())::int AS seconds FROM cabinet.registry_due
    WHERE due_at BETWEEN cabinet.now() + interval '2 minutes' AND cabinet.now() + interval '5 minutes'`)
  ).length

it("a round over 20,000 cabinets reads the registry's changes alone, and looks only at the cabinets that are due", async () => {
  await add(1, CABINETS)
  await database.run(`UPDATE cabinet.registry_due SET due_at = cabinet.now() + interval '1 hour'
    WHERE substr(name, 2)::int > ${DUE}`)
  await Effect.gen(function* () {
    yield* tenantScheduler(yield* pool, WORK)
    const round = Effect.fnUntraced(function* (number: number) {
      counts.statements = 0
      if (number > 1) yield* TestClock.adjust("5 seconds")
      yield* until(() => counts.rounds === number && visits >= DUE)
      return counts.statements
    })
    // Its position, the full pages, and the empty one after them.
    assert.strictEqual(yield* round(1), 1 + CABINETS / PAGE + 1)
    while ((yield* Effect.promise(settled)) < DUE);
    assert.strictEqual(yield* round(2), 1)
    yield* Effect.promise(() =>
      database.run(`INSERT INTO cabinet.registered_cabinet (name, database_url)
        SELECT 'd' || n, 'postgres:///d' || n FROM generate_series(1, ${2 * PAGE + 1}) n`),
    )
    yield* Effect.promise(() =>
      database.run("UPDATE cabinet.registry_due SET due_at = 'infinity' WHERE name LIKE 'd%'"),
    )
    assert.strictEqual(yield* round(3), 3)
    assert.strictEqual(yield* round(4), 1)
    assert.strictEqual(visits, DUE)
  }).pipe(
    Effect.scoped,
    Effect.provide(
      Layer.provideMerge(
        counted,
        PgRegistryStore.layer({ url: database.url }).pipe(Layer.provideMerge(OwnerClient.layer({ url: database.url }))),
      ),
    ),
    Effect.provide([TestClock.layer(), Logger.layer([])]),
    Effect.runPromise,
  )
})

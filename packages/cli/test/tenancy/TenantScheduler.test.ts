/** What a round over many cabinets costs: statements, pieces of work that block the process, and visits. Counted, not timed. */
import { type AddressInfo, createServer, type Server } from "node:net"
import { knownCabinets } from "@data-cabinet/core/tenancy/KnownCabinets"
import { RegistryStore } from "@data-cabinet/core/tenancy/RegistryStore"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as PgRegistryStore from "@data-cabinet/store-pg/tenancy/PgRegistryStore"
import { Effect, Layer, Logger } from "effect"
import { TestClock } from "effect/testing"
import { afterEach, assert, beforeEach, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"
import { tenantScheduler } from "../../src/tenancy/TenantScheduler.ts"
import type { TenantPool } from "../../src/tenancy/TenantPool.ts"

const CABINETS = 20_000
/** The registry's page, and the slice of a loop. */
const [PAGE, SLICE] = [250, 1_000]
/** The cabinets that no process has open: their databases are looked at. */
const UNUSED = 40

let database: TestDatabase
let server: Server
let visits: number
const counts = { statements: 0, steps: 0, mostSteps: 0, rounds: 0 }

beforeEach(async () => {
  database = await testDatabase()
  visits = 0
  server = createServer((socket) => {
    visits++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  Object.assign(counts, { statements: 0, steps: 0, mostSteps: 0, rounds: 0 })
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

/** The steps between two turns of the event loop. */
const watchTurns = () => {
  let isOver = false
  const turn = () => {
    counts.mostSteps = Math.max(counts.mostSteps, counts.steps)
    counts.steps = 0
    if (!isOver) setImmediate(turn)
  }
  setImmediate(turn)
  return () => void (isOver = true)
}

const pool = Effect.gen(function* () {
  const known = yield* knownCabinets(() => Effect.void)
  const all: TenantPool["known"] = Object.create(known.all, {
    has: {
      value: (name: string) => {
        counts.steps++
        return known.all.has(name)
      },
    },
    [Symbol.iterator]: {
      value: function* () {
        for (const entry of known.all) {
          counts.steps++
          yield entry
        }
        counts.rounds++
      },
    },
  })
  const many: TenantPool = {
    find: () => Promise.reject(new Error("no request comes")),
    hold: () => Effect.void,
    isOpen: () => Effect.succeed(false),
    open: Effect.sync(() => [...known.all.keys()].filter((name) => Number(name.slice(1)) > UNUSED)),
    known: all,
    reload: known.refresh,
    reloadWhole: known.readWhole,
  }
  return many
})

const until = (isSo: () => boolean) =>
  Effect.promise(async () => {
    while (!isSo()) await new Promise((resolve) => setImmediate(resolve))
  })

it("a round over 20,000 cabinets reads changes alone, blocks for a slice at most, and visits each unused one once", async () => {
  await add(1, CABINETS)
  const stop = watchTurns()
  await Effect.gen(function* () {
    yield* tenantScheduler(yield* pool, 90)
    const round = Effect.fnUntraced(function* (number: number) {
      counts.statements = 0
      if (number > 1) yield* TestClock.adjust("5 seconds")
      yield* until(() => counts.rounds === number && visits >= UNUSED)
      return counts.statements
    })
    // Its position, the full pages, and the empty one after them.
    assert.strictEqual(yield* round(1), 1 + CABINETS / PAGE + 1)
    const first = visits
    assert.strictEqual(yield* round(2), 1)
    yield* Effect.promise(() => add(CABINETS + 1, CABINETS + 2 * PAGE + 1))
    assert.strictEqual(yield* round(3), 3)
    assert.strictEqual(yield* round(4), 1)
    assert.strictEqual(visits, first)
    assert.isAtMost(counts.mostSteps, 2 * SLICE)
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
  stop()
}, 120_000)

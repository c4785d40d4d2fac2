/**
 * What a process knows about the registry while others change it: with commits in any order, and writes past the
 * triggers.
 */
import { type KnownCabinets, knownCabinets } from "@data-cabinet/core/tenancy/KnownCabinets"
import { RegistryStore } from "@data-cabinet/core/tenancy/RegistryStore"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as PgRegistryStore from "@data-cabinet/store-pg/tenancy/PgRegistryStore"
import { PgClient } from "@effect/sql-pg"
import { Deferred, Effect, Exit, Fiber, Layer, ManagedRuntime } from "effect"
import { afterEach, beforeEach, expect, it } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"

let database: TestDatabase
let runtime: ManagedRuntime.ManagedRuntime<RegistryStore | PgClient.PgClient, unknown>
let known: KnownCabinets
let gone: Array<string>
/** Names of the cabinets whose rows each call to the store returned, one list per call. */
let read: Array<ReadonlyArray<string>>
/** Added to the database server's identity: another value simulates a server that was restored or failed over from. */
let life: string
let afterPage: () => Promise<void>

/** Records what is read from the real store. */
const counted = Layer.effect(
  RegistryStore,
  Effect.map(RegistryStore, (store) => {
    const noted = (names: ReadonlyArray<string>) => Effect.sync(() => void read.push(names))
    return RegistryStore.of({
      ...store,
      position: Effect.map(store.position, (at) => ({ ...at, life: at.life + life })),
      page: (after) =>
        store.page(after).pipe(
          Effect.tap((cabinets) => noted(cabinets.map(({ name }) => name))),
          Effect.tap(() => Effect.promise(() => afterPage())),
        ),
      changes: (since, from) =>
        store.changes(since, from).pipe(
          Effect.map((all) => ({ ...all, position: { ...all.position, life: all.position.life + life } })),
          Effect.tap(({ entries }) => noted(entries.map(({ name }) => name))),
        ),
    })
  }),
)

beforeEach(async () => {
  database = await testDatabase()
  gone = []
  read = []
  life = ""
  afterPage = async () => undefined
  const store = PgRegistryStore.layer({ url: database.url }).pipe(
    Layer.provideMerge(OwnerClient.layer({ url: database.url })),
  )
  runtime = ManagedRuntime.make(Layer.provideMerge(counted, store))
  known = await runtime.runPromise(knownCabinets((name) => Effect.sync(() => void gone.push(name))))
})
afterEach(async () => {
  await runtime.dispose()
  await database.drop()
})

const refresh = () => runtime.runPromise(known.refresh)
const names = () => [...known.all.keys()].toSorted()
const add = (name: string) =>
  `INSERT INTO cabinet.registered_cabinet (name, database_url) VALUES ('${name}', 'postgres://h/${name}')`

/** Runs `statement` in a transaction that stays open; returns the function that commits it. */
const begun = async (statement: string) => {
  const mayCommit = Deferred.makeUnsafe<void>()
  const isWritten = Deferred.makeUnsafe<void>()
  const fiber = runtime.runFork(
    PgClient.PgClient.use((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(statement)
          yield* Deferred.succeed(isWritten, undefined)
          yield* Deferred.await(mayCommit)
        }),
      ),
    ),
  )
  await runtime.runPromise(Deferred.await(isWritten))
  return async () => {
    Deferred.doneUnsafe(mayCommit, Exit.void)
    await runtime.runPromise(Fiber.join(fiber))
  }
}

it("refresh reads only what changed since the last one", async () => {
  await database.run(add("first"))
  await refresh()
  await database.run(add("second"))
  read = []
  await refresh()
  await refresh()
  expect(read).toEqual([["second"], []])
  expect(names()).toEqual(["first", "second"])
})

it("refresh sees a change that commits after a later one was read", async () => {
  await refresh()
  const commit = await begun(add("older"))
  await database.run(add("younger"))
  await refresh()
  expect(names()).toEqual(["younger"])
  await commit()
  await refresh()
  expect(names()).toEqual(["older", "younger"])
})

it("refresh reads nothing twice while an old transaction remains open", async () => {
  await refresh()
  await begun(add("older"))
  await database.run(add("younger"))
  await refresh()
  read = []
  await refresh()
  expect(read).toEqual([[]])
})

it("refresh sees a cabinet that is removed, moved or renamed, and reports the old one as gone", async () => {
  for (const name of ["removed", "moved", "renamed", "kept"]) await database.run(add(name))
  await refresh()
  await database.run("DELETE FROM cabinet.registered_cabinet WHERE name = 'removed'")
  await database.run("UPDATE cabinet.registered_cabinet SET database_url = 'postgres://h/x' WHERE name = 'moved'")
  await database.run("UPDATE cabinet.registered_cabinet SET name = 'other' WHERE name = 'renamed'")
  await database.run("UPDATE cabinet.registered_cabinet SET created_at = now() WHERE name = 'kept'")
  await refresh()
  expect(names()).toEqual(["kept", "moved", "other"])
  expect(known.all.get("moved")).toMatchObject({ databaseUrl: "postgres://h/x" })
  expect(gone).toEqual(["removed", "moved", "renamed"])
})

it("refresh reads more than a page of changes to the end", async () => {
  await refresh()
  await database.run(
    `INSERT INTO cabinet.registered_cabinet (name, database_url)
     SELECT 'c' || n, 'postgres://h/' || n FROM generate_series(1, 1200) n`,
  )
  await refresh()
  expect(known.all.size).toBe(1200)
})

it("readWhole finds rows written past the triggers, page by page", async () => {
  await database.run(
    `INSERT INTO cabinet.registered_cabinet (name, database_url)
     SELECT 'c' || n, 'postgres://h/' || n FROM generate_series(1, 1200) n`,
  )
  await refresh()
  expect(known.all.size).toBe(1200)
  expect(Math.max(...read.map((page) => page.length))).toBeLessThan(600)
  await database.run("ALTER TABLE cabinet.registered_cabinet DISABLE TRIGGER note_change")
  await database.run("DELETE FROM cabinet.registered_cabinet WHERE name IN ('c7', 'c1200')")
  await database.run("UPDATE cabinet.registered_cabinet SET database_url = 'postgres://h/x' WHERE name = 'c8'")
  await database.run(add("past"))
  await refresh()
  expect(gone).toEqual([])
  await runtime.runPromise(known.readWhole)
  expect(known.all.size).toBe(1199)
  expect(known.all.has("past")).toBe(true)
  expect(gone.toSorted()).toEqual(["c1200", "c7", "c8"])
})

it("readWhole keeps a cabinet that is added after its page was read", async () => {
  await database.run(add("m"))
  await refresh()
  let refreshed: Promise<void> | undefined
  afterPage = async () => {
    await database.run(add("a"))
    // The refresh waits for the end of this page.
    refreshed ??= refresh()
    afterPage = async () => undefined
  }
  await runtime.runPromise(known.readWhole)
  await refreshed
  expect(names()).toEqual(["a", "m"])
  expect(gone).toEqual([])
})

it("refresh reads the whole registry if the database server has changed", async () => {
  await database.run(add("first"))
  await refresh()
  await database.run(add("second"))
  // As if recorded under a transaction that the other server had already run.
  await database.run("DELETE FROM cabinet.registry_change")
  await refresh()
  expect(names()).toEqual(["first"])
  life = "another"
  await refresh()
  expect(names()).toEqual(["first", "second"])
})

it("changes are kept for a day", async () => {
  await database.run(add("old"))
  await database.run("UPDATE cabinet.clock SET shift = interval '1 day 1 minute'")
  await database.run(add("new"))
  await refresh()
  await runtime.runPromise(known.readWhole)
  expect(await database.run("SELECT name FROM cabinet.registry_change")).toEqual([{ name: "new" }])
})

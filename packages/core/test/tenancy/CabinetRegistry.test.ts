import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import {
  type RegisteredCabinet,
  type RegistryAddition,
  type RegistryMove,
  RegistryStore,
} from "@data-cabinet/core/tenancy/RegistryStore"
import { Effect, Layer, Option, Result } from "effect"
import { expect, it } from "vitest"

const URL = "postgres://somewhere/acme"

const cabinet = (name: string): RegisteredCabinet => ({
  name,
  databaseUrl: URL,
  madeDatabase: null,
  createdAt: "2026-01-01T00:00:00Z",
})

interface Answers {
  readonly added?: RegistryAddition
  readonly moved?: RegistryMove
}

/** A registry with `acme`, which records the calls to its store. */
const over = ({
  added = { is: "added", cabinet: cabinet("new") },
  moved = { is: "moved", cabinet: cabinet("acme") },
}: Answers = {}) => {
  const reached: Array<unknown> = []
  const noted = <A>(act: string, given: unknown, result: A) =>
    Effect.sync(() => {
      reached.push([act, given])
      return result
    })
  const found = (name: string) => (name === "acme" ? Option.some(cabinet(name)) : Option.none())
  const store = RegistryStore.of({
    list: Effect.succeed([cabinet("acme")]),
    find: (name) => Effect.succeed(found(name)),
    position: Effect.die("unused"),
    changes: () => Effect.die("unused"),
    page: () => Effect.die("unused"),
    entries: () => Effect.die("unused"),
    forget: Effect.die("unused"),
    add: (name, database) => noted("add", { name, database }, added),
    move: (name, databaseUrl) => noted("move", { name, databaseUrl }, moved),
    remove: (name) => noted("remove", name, found(name)),
  })
  const layer = CabinetRegistry.layer.pipe(Layer.provide(Layer.succeed(RegistryStore, store)))
  const run = <A, E>(work: (registry: CabinetRegistry["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Effect.result(CabinetRegistry.use(work).pipe(Effect.provide(layer))))
  return { reached, run }
}

it.each(["a", "7", "acme-2", "a--b", "x".repeat(63)])("a cabinet may have the name %s", (name) => {
  const { reached, run } = over()
  expect(run((registry) => registry.add(name, URL))).toMatchObject({ success: { name: "new", databaseUrl: URL } })
  expect(reached).toEqual([["add", { name, database: { url: URL } }]])
})

it.each(["", "-a", "a-", "-", "Acme", "a.b", "a_b", "a b", "a\n", "ä", "x".repeat(64)])(
  "add refuses the name %j, which is not a host label, without a call to the store",
  (name) => {
    const { reached, run } = over()
    expect(run((registry) => registry.add(name, URL))).toMatchObject({ failure: { code: "bad_name" } })
    expect(reached).toEqual([])
  },
)

it("add creates a database with a name that needs no quotes", () => {
  const { reached, run } = over()
  run((registry) => registry.add("north-sea-2", null))
  expect(reached).toEqual([["add", { name: "north-sea-2", database: { create: "cabinet_north_sea_2" } }]])
})

it.each<[RegistryAddition, string]>([
  [{ is: "name_taken" }, "name_taken"],
  [{ is: "database_registered" }, "database_taken"],
  [{ is: "database_exists" }, "database_taken"],
  [{ is: "denied", detail: "permission denied to create database" }, "database_not_made"],
])("add refuses a cabinet that the store could not add: %j", (added, code) => {
  expect(over({ added }).run((registry) => registry.add("new", null))).toMatchObject({ failure: { code } })
})

it("add reports which name is taken, which database remains, and what PostgreSQL said", () => {
  const message = (added: RegistryAddition) => {
    const result = over({ added }).run((registry) => registry.add("new", null))
    return Result.isFailure(result) && "message" in result.failure ? result.failure.message : ""
  }
  expect(message({ is: "name_taken" })).toContain("a cabinet new")
  expect(message({ is: "database_registered" })).toContain("another cabinet")
  expect(message({ is: "database_exists" })).toContain("a database cabinet_new")
  expect(message({ is: "denied", detail: "permission denied" })).toContain("(permission denied)")
})

it("add refuses a name in use before it creates a database", () => {
  const { reached, run } = over()
  expect(run((registry) => registry.add("acme", null))).toMatchObject({ failure: { code: "name_taken" } })
  expect(reached).toEqual([])
})

it("move refuses a database of another cabinet", () => {
  const { reached, run } = over()
  expect(run((registry) => registry.move("acme", URL))).toMatchObject({ success: { name: "acme" } })
  expect(reached).toEqual([["move", { name: "acme", databaseUrl: URL }]])
  const taken = over({ moved: { is: "database_registered" } })
  expect(taken.run((registry) => registry.move("acme", URL))).toMatchObject({ failure: { code: "database_taken" } })
})

it("CabinetRegistry refuses every call about an unknown cabinet, and names it", () => {
  const { run } = over({ moved: { is: "missing" } })
  const calls: ReadonlyArray<(registry: CabinetRegistry["Service"]) => Effect.Effect<unknown, unknown>> = [
    (registry) => registry.find("gone"),
    (registry) => registry.move("gone", URL),
    (registry) => registry.remove("gone"),
  ]
  for (const call of calls) {
    const message = expect.stringContaining("Cabinet gone does not exist.")
    expect(run(call)).toMatchObject({ failure: { code: "no_such_cabinet", message } })
  }
})

it("CabinetRegistry finds, lists and removes a cabinet by name", () => {
  const { run } = over()
  expect(run((registry) => registry.find("acme"))).toMatchObject({ success: { name: "acme", databaseUrl: URL } })
  expect(run((registry) => registry.list)).toMatchObject({ success: [{ name: "acme" }] })
  expect(run((registry) => registry.remove("acme"))).toMatchObject({ success: { name: "acme" } })
})

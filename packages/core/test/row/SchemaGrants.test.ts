import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { type AddOutcome, type GrantOutcome, SchemaGrantStore } from "@data-cabinet/core/row/SchemaGrantStore"
import { Effect, Layer, Result } from "effect"
import { expect, it } from "vitest"

const over = (outcome: GrantOutcome, outcomeOfAdding: AddOutcome = { is: "exists" }) => {
  const reached: Array<unknown> = []
  const store = Layer.succeed(SchemaGrantStore, {
    change: (...given) =>
      Effect.sync(() => {
        reached.push(given)
        return outcome
      }),
    list: Effect.succeed(["cabinet", "shop"]),
    add: (schema) =>
      Effect.sync(() => {
        reached.push(["add", schema])
        return outcomeOfAdding
      }),
  })
  const run = <A, E>(work: (grants: SchemaGrants["Service"]) => Effect.Effect<A, E>) =>
    Effect.runSync(Effect.result(SchemaGrants.use(work)).pipe(Effect.provide(Layer.provide(SchemaGrants.layer, store))))
  return { reached, run }
}

const changed = (objects: number, readable: number): GrantOutcome => ({
  is: "changed",
  objects,
  readable,
  statements: ["GRANT USAGE", "GRANT SELECT", "ALTER DEFAULT PRIVILEGES"],
})

const refusalOf = <A, E extends { readonly message: string }>(result: Result.Result<A, E>) => {
  if (Result.isSuccess(result)) return { code: "none", message: "" }
  const { failure } = result
  return { code: "code" in failure ? failure.code : "none", message: failure.message }
}

it.each(["cabinet", "cabinet_search", "sources", "information_schema", "pg_catalog", "pg_toast", "pg_"])(
  "nobody can grant or revoke access to the schema %s",
  (schema) => {
    const { reached, run } = over(changed(1, 1))
    for (const act of ["expose", "hide", "add"] as const) {
      expect(run<unknown, unknown>((grants) => grants[act](schema))).toMatchObject({
        failure: { code: "not_for_readers" },
      })
    }
    expect(reached).toEqual([])
  },
)

it.each(["", "a\0", "x".repeat(64), "\ud800"])(
  "the schema name %j is impossible, and refused without a query",
  (schema) => {
    const { reached, run } = over(changed(1, 1))
    expect(run((grants) => grants.expose(schema))).toMatchObject({ failure: { code: "no_such_schema" } })
    expect(reached).toEqual([])
  },
)

it.each(["public", "cabinets", "my_sources", "shop.pg_x", "PG_X"])(
  "expose leaves the schema %s to the store",
  (schema) => {
    const { reached, run } = over(changed(3, 3))
    expect(run((grants) => grants.expose(schema))).toEqual(Result.succeed({ objects: 3 }))
    expect(reached).toEqual([["expose", schema]])
  },
)

it("SchemaGrants reports what readers can see after a partial change", () => {
  expect(over(changed(3, 1)).run((grants) => grants.expose("shop"))).toEqual(Result.succeed({ objects: 1 }))
  expect(over(changed(3, 1)).run((grants) => grants.hide("shop"))).toEqual(Result.succeed({ objects: 1 }))
  expect(over(changed(3, 0)).run((grants) => grants.hide("shop"))).toEqual(Result.succeed({ objects: 0 }))
  for (const act of ["expose", "hide"] as const)
    expect(over(changed(0, 0)).run((grants) => grants[act]("empty"))).toEqual(Result.succeed({ objects: 0 }))
})

it("SchemaGrants names the SQL for the schema's owner when it may change nothing", () => {
  for (const [act, readable] of [
    ["expose", 0],
    ["hide", 3],
  ] as const) {
    const { code, message } = refusalOf(over(changed(3, readable)).run((grants) => grants[act]("shop")))
    expect(code).toBe("no_right")
    expect(message).toContain("GRANT USAGE; GRANT SELECT;")
    expect(message).not.toContain("ALTER DEFAULT")
  }
  const denied = over({ is: "denied", detail: "must be owner", statements: ["GRANT USAGE"] })
  const { code, message } = refusalOf(denied.run((grants) => grants.hide("shop")))
  expect(code).toBe("no_right")
  expect(message).toMatch(/must be owner.*GRANT USAGE;$/)
})

it("SchemaGrants names a missing schema or reader", () => {
  expect(refusalOf(over({ is: "no_schema" }).run((grants) => grants.hide("shop")))).toMatchObject({
    code: "no_such_schema",
    message: expect.stringContaining('"shop"'),
  })
  expect(
    refusalOf(over({ is: "no_reader", role: "cabinet_reader" }).run((grants) => grants.hide("shop"))),
  ).toMatchObject({
    code: "no_reader",
    message: expect.stringContaining("cabinet_reader"),
  })
})

it.each(["public", "", "a\0", "x".repeat(64)])("add refuses the name %j without a query", (schema) => {
  const { reached, run } = over(changed(1, 1), { is: "added", author: "author" })
  expect(run((grants) => grants.add(schema))).toMatchObject({ failure: { code: "not_for_readers" } })
  expect(reached).toEqual([])
})

it.each<[AddOutcome, string, RegExp]>([
  [{ is: "exists" }, "schema_exists", /a schema shop already/],
  [{ is: "no_author", reason: "It may not be created." }, "no_author", /It may not be created/],
  [
    { is: "denied", detail: "permission denied", statements: ["CREATE SCHEMA shop"] },
    "no_right",
    /CREATE SCHEMA shop;/,
  ],
  [{ is: "added", author: "author" }, "none", /^$/],
])("add explains %o", (outcome, code, message) => {
  const refusal = refusalOf(over(changed(1, 1), outcome).run((grants) => grants.add("shop")))
  expect(refusal).toMatchObject({ code, message: expect.stringMatching(message) })
})

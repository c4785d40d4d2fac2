/**
 * A user that owns its database but may not create roles: what the first command prints, and what works after running
 * it.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { call } from "./call.ts"

const database = withDatabase({ empty: true })
/** Needs quoting, like the names that services generate. */
let owner: string
const quoted = () => `"${owner}"`

beforeAll(async () => {
  owner = `Poor-${database.name}`
  await database.run(`CREATE ROLE ${quoted()} LOGIN`)
  await database.run(`ALTER DATABASE ${database.name} OWNER TO ${quoted()}`)
  for (const name of ["BASE_URL", "PORT", "HOST", "CABINET_SERVICE_DOMAIN", "CABINET_DATA_DIR"]) vi.stubEnv(name, "")
  vi.stubEnv("DATABASE_URL", database.urlAs(owner))
  vi.stubEnv("LOG_FORMAT", "pretty")
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database.run(`REASSIGN OWNED BY ${quoted()} TO CURRENT_USER`)
  await database.run(`DROP OWNED BY ${quoted()}`)
  await database.run(`DROP ROLE ${quoted()}`)
})

/** The pretty log does not wrap lines, so the SQL can be pasted as is. */
const statementsIn = (said: string): ReadonlyArray<string> =>
  (/restart the server: (.*;)$/m.exec(said)?.[1] ?? "").split(/;\s*/).filter((statement) => statement !== "")

const rolesHere = async () =>
  (
    await database.run(`SELECT rolname FROM pg_roles WHERE rolname LIKE 'cabinet\\_${database.name}\\_%' ORDER BY 1`)
  ).map(({ rolname }) => String(rolname).replace(`cabinet_${database.name}_`, ""))

it("the first command prints SQL that an administrator pastes, and then everything works", async () => {
  const first = await call(["source", "add", "Orders", "--get", "id"])
  expect([first.code, first.printed.trim()]).toEqual([0, "1"])
  expect(first.said).toContain("Reading and `cabinet sql` are off, because the user of the database at ")
  expect(statementsIn(first.said), first.said).toHaveLength(4)
  expect(first.said).not.toMatch(/undefined|…/)

  const refused = await call(["rows", "sources.orders"])
  expect(refused.code).toBe(1)
  expect(refused.said).toContain("cabinet migrate prints the SQL")

  // Any of the printed versions works, not only the last.
  for (const statement of statementsIn(first.said)) await database.run(statement)
  expect(await rolesHere()).toEqual(["author", "reader"])

  const alone = await call(["migrate", "--get", "administrator_sql"])
  expect(alone.printed.trim()).toBe("null")
  for (const _ of [1, 2]) {
    expect(await call(["migrate", "--json"])).toMatchObject({ code: 0, said: "" })
    const view = "CREATE OR REPLACE VIEW public.ids AS SELECT _event_id FROM sources.orders"
    expect(await call(["sql", "-c", view])).toMatchObject({ code: 0, said: "" })
    expect(await call(["rows", "sources.orders"])).toMatchObject({ code: 0, said: "" })
    expect(await call(["rows", "public.ids"])).toMatchObject({ code: 0, said: "" })
  }
  const written = () =>
    database.run(`SELECT xmin::text FROM pg_authid WHERE rolname LIKE 'cabinet\\_${database.name}\\_%'`)
  const before = await written()
  expect(await call(["source", "list"])).toMatchObject({ code: 0, said: "" })
  expect(await written()).toEqual(before)
})

it("the SQL that the next command prints repairs roles whose passwords were changed", async () => {
  for (const kind of ["reader", "author"]) await database.run(`ALTER ROLE cabinet_${database.name}_${kind} NOLOGIN`)
  const { said } = await call(["source", "list"])
  const statements = statementsIn(said)
  expect(statements.filter((one) => one.startsWith("ALTER ROLE "))).toHaveLength(2)
  for (const statement of statements) await database.run(statement)
  expect(await call(["rows", "sources.orders"])).toMatchObject({ code: 0, said: "" })
})

it("an administrator that grants CREATEROLE afterwards leaves the roles as they are", async () => {
  await database.run(`ALTER ROLE ${quoted()} CREATEROLE`)
  expect(await call(["rows", "sources.orders"])).toMatchObject({ code: 0, said: "" })
  expect(await call(["sql", "-c", "SELECT 1"])).toMatchObject({ code: 0, said: "" })
})

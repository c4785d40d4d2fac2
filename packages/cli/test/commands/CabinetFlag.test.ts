/**
 * `--cabinet NAME` is never ignored: a command works on that cabinet, or reports that it does not concern a single one.
 */
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { ARGUMENTS, OF_THE_SERVER } from "./arguments.ts"
import { call, leaves } from "./call.ts"

const database = withDatabase()

beforeAll(() => {
  vi.stubEnv("DATABASE_URL", database.url)
  // The test runner has its own such flag.
  vi.stubEnv("BASE_URL", "")
})
afterAll(() => {
  vi.unstubAllEnvs()
})

const calledFor = (name: string, rest: ReadonlyArray<string>) =>
  call([...name.split(" "), ...rest, "--cabinet", "nobody"])

it.for(leaves.filter((name) => !(name in OF_THE_SERVER)))("%s works on the named cabinet", async (name) => {
  expect(ARGUMENTS).toHaveProperty([name])
  const { code, said } = await calledFor(name, ARGUMENTS[name]!)
  expect(said).toMatch(/^Cabinet nobody does not exist\. /)
  expect(code).toBe(1)
})

it.for(Object.entries(OF_THE_SERVER))(
  "%s refuses --cabinet, because it concerns the whole server",
  async ([name, rest]) => {
    expect(leaves).toContain(name)
    const { code, said } = await calledFor(name, rest)
    expect(said).toMatch(/: leave --cabinet out\.\n$/)
    expect(code).toBe(2)
  },
)

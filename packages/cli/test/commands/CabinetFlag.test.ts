/** `--cabinet NAME` is never passed over: a command works on that cabinet, or says that it is about no single one. */
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it, vi } from "vitest"
import { testDatabase, type TestDatabase } from "../../../../test/support/postgres.ts"
import { call, leaves } from "./call.ts"

let database: TestDatabase

beforeAll(async () => {
  database = await testDatabase()
  vi.stubEnv("DATABASE_URL", database.url)
  // The test runner has one of its own.
  vi.stubEnv("BASE_URL", "")
})
afterAll(async () => {
  vi.unstubAllEnvs()
  await database.drop()
})

const FILE = fileURLToPath(import.meta.url)

/** What each command needs after its name; those that are about a server as a whole stand below. */
const ARGUMENTS: Readonly<Record<string, ReadonlyArray<string>>> = {
  migrate: [],
  "source add": ["Orders"],
  "source list": [],
  "source show": ["1"],
  "source set": ["1", "--encoding", "utf-8"],
  "source rename": ["1", "Orders"],
  "source archive": ["1"],
  "source restore": ["1"],
  "source delete": ["1", "--keep-table"],
  "source rotate-secret": ["1"],
  "key add": ["reader"],
  "key list": [],
  "key revoke": ["1"],
  "address add": ["https://example.com"],
  "address list": [],
  "address show": ["1"],
  "address set": ["1", "--url", "https://example.com"],
  "address remove": ["1"],
  "address ping": ["1"],
  "address log": ["1"],
  "address rotate-secret": ["1"],
  "address resend": ["1"],
  "address cancel": ["1"],
  "address pause": ["1"],
  "address resume": ["1"],
  import: ["1", FILE],
  "poll add": ["1", "https://example.com"],
  "poll list": [],
  "poll run": ["1"],
  "poll log": ["1"],
  "poll pause": ["1"],
  "poll resume": ["1"],
  "poll remove": ["1"],
  "operator add": ["somebody"],
  "operator list": [],
  "operator revoke": ["1"],
  events: [],
  rows: ["public.orders"],
  event: ["1"],
  trash: ["1", "1"],
  untrash: ["1", "1"],
  purge: ["1"],
  column: ["1"],
  "search-index": ["public.orders"],
  sql: [FILE],
  expose: ["public"],
  hide: ["public"],
  doctor: [],
}

const OF_THE_SERVER: Readonly<Record<string, ReadonlyArray<string>>> = {
  serve: [],
  work: [],
  "cabinets add": ["orders"],
  "cabinets list": [],
  "cabinets remove": ["orders"],
  backup: ["file"],
  restore: ["file"],
  bench: [],
}

const calledFor = (name: string, rest: ReadonlyArray<string>) =>
  call([...name.split(" "), ...rest, "--cabinet", "nobody"])

it.for(leaves.filter((name) => !(name in OF_THE_SERVER)))("%s works on the cabinet that is named", async (name) => {
  expect(ARGUMENTS).toHaveProperty([name])
  const { code, said } = await calledFor(name, ARGUMENTS[name]!)
  expect(said).toMatch(/^There is no cabinet nobody\. /)
  expect(code).toBe(1)
})

it.for(Object.entries(OF_THE_SERVER))("%s is about no single cabinet, and says so", async ([name, rest]) => {
  expect(leaves).toContain(name)
  const { code, said } = await calledFor(name, rest)
  expect(said).toMatch(/: leave --cabinet out\.\n$/)
  expect(code).toBe(2)
})

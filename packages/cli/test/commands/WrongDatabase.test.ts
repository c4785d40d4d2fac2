/**
 * A command with a wrong data directory or database reports it: it creates no database there, and adds nothing to one
 * that is not served.
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { openCabinet } from "data-cabinet"
import { afterAll, beforeAll, beforeEach, expect, it, vi } from "vitest"
import { testDatabase, withDatabase } from "../../../../test/support/postgres.ts"
import { ARGUMENTS, OF_THE_SERVER } from "./arguments.ts"
import { call, leaves } from "./call.ts"

let home: string
const database = withDatabase()

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), "dc-place-"))
})
beforeEach(() => {
  for (const name of ["BASE_URL", "PORT", "HOST", "CABINET_SERVICE_DOMAIN", "CABINET_DATA_DIR"]) vi.stubEnv(name, "")
})
afterAll(() => {
  vi.unstubAllEnvs()
  rmSync(home, { recursive: true })
})

const MAKING = ["serve", "source add", "restore"]
const JOINING = leaves.filter((name) => !MAKING.includes(name) && name !== "bench")

it.for(JOINING)("%s creates no missing database", async (name) => {
  vi.stubEnv("DATABASE_URL", "")
  const dataDir = join(home, name.replaceAll(" ", "-"))
  const rest = (ARGUMENTS[name] ?? OF_THE_SERVER[name])!
  const { code, printed, said } = await call([...name.split(" "), ...rest, "--data-dir", dataDir])
  expect(said).toMatch(/^There is no database in \S+[ .].*--data-dir/)
  expect(said).toContain(dataDir)
  expect(printed).toBe("")
  expect(code).toBe(1)
  expect(existsSync(dataDir)).toBe(false)
})

it("on a server of many cabinets a command requires --cabinet and lists the names", async () => {
  vi.stubEnv("DATABASE_URL", database.url)
  const question = /^This server has several cabinets: choose one with --cabinet NAME \(orders, shop\)\.\n$/
  const other = { orders: await testDatabase(), shop: await testDatabase() }
  try {
    for (const [name, { url }] of Object.entries(other)) {
      expect(await call(["tenant", "add", name, "--database-url", url])).toMatchObject({ code: 0 })
    }
    for (const name of leaves.filter((each) => !(each in OF_THE_SERVER) && !["migrate", "doctor"].includes(each))) {
      const { code, printed, said } = await call([...name.split(" "), ...ARGUMENTS[name]!])
      expect(said, name).toMatch(question)
      expect([code, printed]).toEqual([1, ""])
    }
    for (const name of ["migrate", "doctor"]) expect((await call([name])).said).not.toMatch(question)
    expect(await database.run("SELECT FROM cabinet.source")).toEqual([])
    expect(await call(["source", "add", "Orders", "--cabinet", "orders"])).toMatchObject({ code: 0, said: "" })

    // The database may be a cabinet itself, and meant as such.
    await database.run("INSERT INTO cabinet.source (name, intake_secret, secret_hash) VALUES ('S', 's', 'h')")
    expect(await call(["source", "list"])).toMatchObject({ code: 0, said: "" })
  } finally {
    await Promise.all(Object.values(other).map((one) => one.drop()))
  }
})

it("a server of many cabinets without any says how to add one", async () => {
  const empty = await testDatabase()
  vi.stubEnv("DATABASE_URL", empty.url)
  vi.stubEnv("CABINET_SERVICE_DOMAIN", "cabinets.test")
  try {
    expect((await call(["key", "add", "reader"])).said).toMatch(
      / \(none yet: create one with cabinet tenant add NAME\)\.\n$/,
    )
  } finally {
    await empty.drop()
  }
})

it("a link is marked as a guess when no base URL is known", async () => {
  const plain = await testDatabase()
  vi.stubEnv("DATABASE_URL", plain.url)
  const guess = /base URL is not configured, so this address is a guess/
  try {
    expect((await call(["source", "add", "Orders"])).printed).toMatch(guess)
    const document = JSON.parse((await call(["source", "show", "1", "--json"])).printed) as object
    expect(document).toMatchObject({ base_url_known: false })
    expect((await call(["source", "show", "1", "--get", "intake_url"])).said).toMatch(guess)
    expect((await call(["source", "show", "1", "--get", "table.name"])).said).toBe("")
    const said = await call(["source", "show", "1", "--base-url", "https://shop.example", "--get", "intake_url"])
    expect(said).toMatchObject({ said: "", printed: expect.stringMatching(/^https:\/\/shop\.example\/webhook\//) })
    vi.stubEnv("PORT", "8123")
    expect(JSON.parse((await call(["source", "show", "1", "--json"])).printed)).toMatchObject({ base_url_known: true })
  } finally {
    await plain.drop()
  }
})

it("a link begins with the base URL that a server recorded, unless one is set", async () => {
  const plain = await testDatabase()
  vi.stubEnv("DATABASE_URL", plain.url)
  const link = async (...args: ReadonlyArray<string>) =>
    JSON.parse((await call(["source", "show", "1", "--json", ...args])).printed) as object
  try {
    const told = await openCabinet({ databaseUrl: plain.url, baseUrl: "https://shop.example/data" })
    await told.sources.create({ name: "Orders" })
    await told.close()
    const untold = await openCabinet({ databaseUrl: plain.url, delivery: false })
    expect(untold.baseUrl).toBe("https://shop.example/data")
    expect((await untold.sources.reveal(1)).intakeUrl).toMatch(/^https:\/\/shop\.example\/data\/webhook\//)
    await untold.close()
    vi.stubEnv("PORT", "8123")
    const intake_url = expect.stringMatching(/^https:\/\/shop\.example\/data\/webhook\//) as string
    expect(await link()).toMatchObject({ base_url_known: true, intake_url })
    const other = await link("--base-url", "https://other.example")
    expect(other).toMatchObject({ intake_url: expect.stringMatching(/^https:\/\/other\.example\/webhook\//) })
    expect(await link()).toMatchObject({ intake_url })
  } finally {
    vi.stubEnv("PORT", "")
    await plain.drop()
  }
})

it("a cabinet that was never served has no recorded base URL", async () => {
  const plain = await testDatabase()
  const untold = await openCabinet({ databaseUrl: plain.url, delivery: false })
  try {
    expect(untold.baseUrl).toBeNull()
    expect((await untold.sources.create({ name: "S" })).intakeUrl).toMatch(/^http:\/\/127\.0\.0\.1:8080\/webhook\//)
  } finally {
    await untold.close()
    await plain.drop()
  }
})

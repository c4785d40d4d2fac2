/** What prevents a start is reported in one sentence that says what to do, with exit code 1; wrong usage is 2. */
import { mkdirSync, statSync, writeFileSync } from "node:fs"
import { createServer, type Server } from "node:net"
import type { AddressInfo } from "node:net"
import { dirname, join } from "node:path"
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, expect, it } from "vitest"
import { endAll, type Home, newHome } from "../support/cabinetProcess.ts"
import { testDatabase, withDatabase } from "../support/postgres.ts"

let home: Home
const database = withDatabase({ empty: true })
let taken: Server

beforeAll(async () => {
  home = newHome()
  taken = createServer()
  await new Promise<void>((resolve) => taken.listen(0, "127.0.0.1", resolve))
})
afterAll(async () => {
  taken.close()
  await endAll()
})

const takenPort = () => String((taken.address() as AddressInfo).port)

/** One sentence or two on stderr, nothing on stdout. */
const refused = async (args: ReadonlyArray<string>, env: Record<string, string>, words: RegExp) => {
  const result = await home.cabinet(args, env)
  expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(words) })
  expect(result.stderr.trim().split("\n")).toHaveLength(1)
}

it("serve refuses a taken port", () =>
  refused(
    ["serve", "--port", takenPort()],
    { DATABASE_URL: database.url },
    /^Another program already listens on 127\.0\.0\.1:\d+\. Stop it, or choose another port with --port or PORT\.\n$/,
  ))

it("serve refuses a taken port for its metrics", () =>
  refused(
    ["serve", "--port", "0", "--metrics-port", takenPort()],
    { DATABASE_URL: database.url },
    /^Another program already listens on /,
  ))

it("serve refuses a wrong setting, wherever it comes from", async () => {
  await refused(["serve"], { CABINET_API_RATE: "many" }, /^CABINET_API_RATE is "many": it must be an integer/)
  await refused(["serve", "--time-zone", "Mars/Base"], {}, /^--time-zone is "Mars\/Base": it must be the name/)
})

it("serve reports that the database cannot be reached, does not exist, or refuses the login", async () => {
  // Nobody listens on the discard port of the loopback.
  await refused(
    ["migrate"],
    { DATABASE_URL: "postgres://user:hush@127.0.0.1:9/cabinet" },
    /^The database at 127\.0\.0\.1:9\/cabinet cannot be reached \((?!.*hush).*Check that PostgreSQL runs there/,
  )
  await refused(
    ["serve"],
    { DATABASE_URL: database.url.replace(database.name, "no_such") },
    /^There is no database at .*no_such\. Create it with createdb/,
  )
  await refused(["serve"], { DATABASE_URL: database.urlAs("nobody_here") }, /rejected the login .*DATABASE_URL/)
})

it("serve says which privileges a database user lacks", async () => {
  const empty = await testDatabase({ empty: true })
  await database.run("CREATE ROLE poor_start LOGIN")
  try {
    await refused(["serve"], { DATABASE_URL: empty.urlAs("poor_start") }, /may not create schemas here.*GRANT CREATE/)
  } finally {
    await empty.drop()
    await database.run("DROP ROLE poor_start")
  }
})

it("serve refuses a database that cannot hold every character", async () => {
  const latin = `${database.name}_latin`
  await database.run(`CREATE DATABASE ${latin} OWNER cabinet TEMPLATE template0 ENCODING 'LATIN1' LOCALE 'C'`)
  try {
    await refused(["migrate"], { DATABASE_URL: database.url.replace(database.name, latin) }, /encoding is LATIN1.*UTF8/)
  } finally {
    await database.run(`DROP DATABASE ${latin} WITH (FORCE)`)
  }
})

it("a wrong call exits with 2, names the error and the help, and writes nothing to stdout", async () => {
  for (const [args, words] of [
    [["nonsense"], /Unknown subcommand "nonsense"/],
    [["source", "add"], /Missing required argument: NAME/],
    [["sorce"], /^Unknown subcommand "sorce" for "cabinet"\. Did you mean source\?$/m],
    [["poll", "log", "one"], /^ID must be a positive integer, not "one"\.$/m],
    [["poll", "log", "0"], /^ID must be a positive integer, not "0"\.$/m],
    [["poll", "log", "1", "--limit", "many"], /^--limit must be an integer, not "many"\.$/m],
    [["key", "list", "--bogus"], /--bogus/],
  ] as const) {
    expect(await home.cabinet(args)).toMatchObject({ code: 2, stdout: "", stderr: expect.stringMatching(words) })
  }
  expect(await home.cabinet(["--help"])).toMatchObject({ code: 0, stderr: "" })
  expect(await home.cabinet(["--version"])).toMatchObject({ code: 0, stdout: expect.stringMatching(/^\d+\.\d+\.\d+/) })
})

it("serve creates a cabinet in an empty external database, and commands beside it share it", async () => {
  const env = { DATABASE_URL: database.url, CABINET_METRICS_PORT: "" }
  const server = await home.serve([], env)
  expect(server.welcome).toMatchObject({ source: { id: 1 }, key: { key: expect.stringMatching(/^dck_/) } })
  const ready = await fetch(`${server.baseUrl}/readyz`)
  expect([ready.status, await ready.json()]).toEqual([200, { ok: true }])
  // One of several servers on a database cannot know the address of the others.
  expect(await database.run("SELECT FROM cabinet.base_address")).toEqual([])
  const keys = await home.cabinet(["key", "list", "--json"], env)
  expect(JSON.parse(keys.stdout)).toMatchObject([{ name: "First key", revoked_at: null }])
  expect(keys.stdout).not.toContain(server.welcome.key!.key)
  // Two simultaneous signals, from a terminal and a wrapper, count as one: it still shuts down gracefully.
  const stopped = server.stop("SIGINT")
  process.kill(server.pid, "SIGINT")
  expect(await stopped).toBe(0)
})

it("concurrent commands create and find a cabinet when none is running", async () => {
  const other = newHome()
  const made = await Promise.all(
    ["One", "Two", "Three"].map((name) => other.cabinet(["source", "add", name, "--get", "table.name"])),
  )
  expect(made.map(({ code, stdout, stderr }) => [code, stdout, stderr])).toEqual([
    [0, "one\n", ""],
    [0, "two\n", ""],
    [0, "three\n", ""],
  ])
  const listed = await other.cabinet(["source", "list", "--json"])
  expect((JSON.parse(listed.stdout) as Array<unknown>).length).toBe(3)
  expect(await other.cabinet(["source", "show", "7"])).toMatchObject({ code: 1, stderr: "Source 7 does not exist.\n" })
})

/** Whether every user may pass through all directories above this file. */
const isOpenToAll = (): boolean => {
  for (let at = dirname(fileURLToPath(import.meta.url)); dirname(at) !== at; at = dirname(at)) {
    if ((statSync(at).mode & 0o001) === 0) return false
  }
  return true
}

it("a cabinet starts without namespaces and capabilities, or says what it needs", async () => {
  const other = newHome()
  const bin = join(other.dir, "bin")
  mkdirSync(bin)
  for (const name of ["unshare", "setpriv"]) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho "${name}: Operation not permitted" >&2\nexit 1\n`, { mode: 0o755 })
  }
  const env = { PATH: `${bin}:${process.env["PATH"]}` }
  if (process.getuid?.() !== 0 || isOpenToAll()) {
    expect(await other.cabinet(["source", "add", "One", "--get", "id"], env)).toMatchObject({ code: 0, stdout: "1\n" })
  } else {
    const words = /no other way of running it works here .*Only root may enter .*: move the program/
    expect(await other.cabinet(["source", "add", "One"], env)).toMatchObject({
      code: 1,
      stdout: "",
      stderr: expect.stringMatching(words),
    })
  }
  // Only the data directory may be inaccessible to others.
  const closed = join(other.dir, "closed")
  mkdirSync(closed, { mode: 0o700 })
  const there = await other.cabinet(["source", "add", "One"], { ...env, CABINET_DATA_DIR: join(closed, ".cabinet") })
  if (process.getuid?.() !== 0) expect(there.code).toBe(0)
  else expect(there).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(/Only root may enter /) })
})

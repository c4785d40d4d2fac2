/** The supervisor against real processes and real faults, each on its own data directory. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { readPostmasterPid } from "@data-cabinet/store-pg/embedded/PostmasterPid"
import { afterEach, beforeEach, expect, it } from "vitest"
import { endAll, eventually, hold, query } from "./Holder.ts"

let dir: string
let pgdata: string
beforeEach(() => {
  dir = join(mkdtempSync(join(tmpdir(), "dc-embedded-")), "data")
  pgdata = join(dir, "pgdata")
})
afterEach(async () => {
  endAll()
  const left = readPostmasterPid(pgdata)
  if (left !== undefined && readFileSync(join(pgdata, "postmaster.pid"), "utf8").includes(pgdata)) {
    // A server that a failed test left behind; joining and leaving stops it.
    await hold("join", dir).then((holder) => holder.end("SIGTERM"))
  }
  rmSync(join(dir, ".."), { recursive: true, force: true })
})

const note = (url: string) => query(url, "CREATE TABLE note (id int PRIMARY KEY)")
const keep = (url: string, id: number) => query(url, `INSERT INTO note VALUES (${id})`)
const kept = async (url: string) => (await query(url, "SELECT id FROM note ORDER BY id")).map((row) => row["id"])

it("serve creates a durable UTF-8 cluster whose owner is not a superuser, and ends it with its scope", async () => {
  const holder = await hold("serve", dir)
  expect(holder.answer.origin).toBe("created")
  const [facts] = await query(
    holder.answer.url,
    `SELECT pg_encoding_to_char(encoding) AS encoding, datcollate AS collation, current_setting('fsync') AS fsync,
            current_setting('listen_addresses') AS addresses, rolsuper AS super, rolcreaterole AS roles,
            lower('ÄЖ') AS lowered
     FROM pg_database, pg_roles WHERE datname = current_database() AND rolname = current_user`,
  )
  expect(facts).toEqual({
    encoding: "UTF8",
    collation: "C",
    fsync: "on",
    addresses: "",
    super: false,
    roles: true,
    lowered: "äж",
  })
  await note(holder.answer.url)
  expect(await holder.end("SIGTERM")).toBe(0)
  expect(existsSync(join(pgdata, "postmaster.pid"))).toBe(false)
  expect(existsSync(holder.answer.socketDir)).toBe(false)

  const again = await hold("serve", dir)
  expect(again.answer.origin).toBe("started")
  expect(await kept(again.answer.url)).toEqual([])
})

it("serve refuses a data directory that is being served, and join works beside the server and outlives it", async () => {
  const first = await hold("serve", dir)
  const second = await hold("serve", dir)
  expect(second.answer.code).toBe("already_served")
  expect(second.answer.message).toContain(String(first.pid))
  const joined = await hold("join", dir)
  expect(joined.answer).toMatchObject({ origin: "found", url: first.answer.url })
  await first.end("SIGTERM")
  await note(joined.answer.url)
  await joined.end("SIGTERM")
  expect(existsSync(join(pgdata, "postmaster.pid"))).toBe(false)
})

it("concurrent joins without a server create one cluster, and the last to leave stops it", async () => {
  const holders = await Promise.all([1, 2, 3, 4].map(() => hold("join", dir)))
  expect(holders.map((holder) => holder.answer.origin).sort()).toEqual(["created", "found", "found", "found"])
  expect(new Set(holders.map((holder) => holder.answer.url)).size).toBe(1)
  await Promise.all(holders.slice(1).map((holder) => holder.end("SIGTERM")))
  await note(holders[0]!.answer.url)
  await holders[0]!.end("SIGTERM")
  expect(existsSync(join(pgdata, "postmaster.pid"))).toBe(false)
})

it("serve takes over the server that a killed serve left, with everything committed", async () => {
  const first = await hold("serve", dir)
  await note(first.answer.url)
  await keep(first.answer.url, 1)
  await first.end("SIGKILL")
  await keep(first.answer.url, 2)
  const second = await hold("serve", dir)
  expect(second.answer).toMatchObject({ origin: "found", url: first.answer.url })
  expect(await kept(second.answer.url)).toEqual([1, 2])
})

it("serve starts a killed PostgreSQL again under the same address", async () => {
  const holder = await hold("serve", dir)
  await note(holder.answer.url)
  await keep(holder.answer.url, 1)
  process.kill(readPostmasterPid(pgdata)!.pid, "SIGKILL")
  expect(await eventually(() => kept(holder.answer.url))).toEqual([1])
})

it("serve recovers when it and PostgreSQL were both killed", async () => {
  const first = await hold("serve", dir)
  await note(first.answer.url)
  await keep(first.answer.url, 1)
  const postmaster = readPostmasterPid(pgdata)!.pid
  await first.end("SIGKILL")
  process.kill(postmaster, "SIGKILL")
  const second = await hold("serve", dir)
  expect(second.answer.origin).toBe("started")
  expect(await kept(second.answer.url)).toEqual([1])
})

it("serve starts although the pid file of a crash names an unrelated process", async () => {
  const first = await hold("serve", dir)
  const file = join(pgdata, "postmaster.pid")
  const text = readFileSync(file, "utf8")
  await first.end("SIGTERM")
  // The id of this very process: alive, and certainly not PostgreSQL.
  writeFileSync(file, text.replace(/^\d+/u, String(process.pid)))
  const second = await hold("serve", dir)
  expect(second.answer.origin).toBe("started")
})

it("serve survives an interrupted creation of the data directory", async () => {
  const half = join(dir, "pgdata.new-half")
  mkdirSync(half, { recursive: true })
  writeFileSync(join(half, "PG_VERSION"), "18\n")
  const holder = await hold("serve", dir)
  expect(holder.answer.origin).toBe("created")
  expect(existsSync(half)).toBe(false)
})

it("serve restarts a server whose socket was deleted", async () => {
  const first = await hold("serve", dir)
  await note(first.answer.url)
  await first.end("SIGKILL")
  rmSync(first.answer.socketDir, { recursive: true })
  const second = await hold("serve", dir)
  expect(second.answer.origin).toBe("started")
  expect(await kept(second.answer.url)).toEqual([])
})

it("a Ctrl-C in the terminal reaches Node but not PostgreSQL", async () => {
  const holder = await hold("serve", dir, { detached: true })
  const other = await hold("join", dir)
  // Like a terminal: the signal goes to every process of the group.
  expect(await holder.end("SIGINT", true)).toBe(0)
  await note(other.answer.url)
})

it("serve over TCP requires the password", async () => {
  const holder = await hold("serve", dir, { transport: "tcp" })
  await note(holder.answer.url)
  expect(new URL(holder.answer.url).hostname).toBe("127.0.0.1")
  const wrong = new URL(holder.answer.url)
  wrong.password = "guess"
  await expect(query(wrong.href, "SELECT 1")).rejects.toThrow()
  await holder.end("SIGKILL")
  const again = await hold("serve", dir, { transport: "tcp" })
  expect(again.answer).toMatchObject({ origin: "found", url: holder.answer.url })
})

it("serve refuses data of another major version with a message", async () => {
  mkdirSync(pgdata, { recursive: true })
  writeFileSync(join(pgdata, "PG_VERSION"), "14\n")
  const holder = await hold("serve", dir)
  expect(holder.answer.code).toBe("incompatible")
  rmSync(pgdata, { recursive: true })
})

it("serve refuses a data directory that cannot be created with a message", async () => {
  mkdirSync(join(dir, ".."), { recursive: true })
  writeFileSync(dir, "a file")
  const holder = await hold("serve", dir)
  expect(holder.answer.code).toBe("bad_data_dir")
  rmSync(dir)
})

it.runIf(process.platform === "linux")("serve refuses a data directory below one that holds none", async () => {
  const holder = await hold("serve", "/proc/cabinet/data")
  expect(holder.answer).toMatchObject({
    code: "bad_data_dir",
    message: expect.stringMatching(/^The data directory \/proc\/cabinet\/data cannot be created \(.*--data-dir\.$/),
  })
})

it("a server is stopped once all its users were killed, but not while one is alive", async () => {
  const first = await hold("serve", dir, { lingerMillis: 0 })
  const second = await hold("join", dir, { lingerMillis: 0 })
  const { pid } = readPostmasterPid(pgdata)!
  await first.end("SIGKILL")
  // It is still there many checks later.
  await new Promise((resolve) => setTimeout(resolve, 2000))
  await note(second.answer.url)
  expect(readPostmasterPid(pgdata)!.pid).toBe(pid)
  await second.end("SIGKILL")
  await expect.poll(() => existsSync(join(pgdata, "postmaster.pid"))).toBe(false)
  await expect.poll(() => existsSync(first.answer.socketDir)).toBe(false)
  const third = await hold("serve", dir)
  expect(third.answer.origin).toBe("started")
  expect(await query(third.answer.url, "SELECT FROM note")).toEqual([])
})

it("a data directory of another user, or with another user's database in it, is refused with a message", async () => {
  const root = process.geteuid!() === 0
  const refused = async (words: RegExp) => {
    // Root may do everything, so this needs another user.
    const { answer } = await hold("join", dir, root ? { uid: 65_534 } : {})
    expect(answer).toMatchObject({ code: "bad_data_dir", message: expect.stringMatching(words) })
  }
  mkdirSync(pgdata, { recursive: true, mode: 0o700 })
  chmodSync(dirname(dir), 0o755)
  chmodSync(dir, root ? 0o700 : 0o500)
  await refused(/^The data directory \S+ .*cannot be used by .*chown -R.*--data-dir\.$/)
  chmodSync(dir, 0o777)
  chmodSync(pgdata, root ? 0o700 : 0o000)
  await refused(/^In the data directory, \S+pgdata .*cannot be used by .*chown -R/)
  rmSync(pgdata, { recursive: true })
})

/**
 * A backup taken under load and restored elsewhere. Events acknowledged before the backup exist with their rows; keys,
 * deliveries and clients of the feed that had read further continue. A killed restore leaves nothing that could be taken
 * for a database.
 */
import { existsSync, mkdirSync, readdirSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { endAll, type Home, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { type Receiver, startReceiver } from "../support/receiver.ts"

// Every command is a process of its own, and the machine may have other things to do.
vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

const SENDERS = 4
const ANSWERS_BEFORE = 60
const ENV = { CABINET_ALLOWED_NETWORKS: "127.0.0.0/8", CABINET_INTAKE_RATE: "0", CABINET_API_RATE: "100000" }

let home: Home
let file: string
let receiver: Receiver
/** Gets events in the order of the feed. */
let ordered: Receiver
/** The server's state when the backup was complete and the senders had stopped. */
let key: string
let before: ReadonlyArray<number>
let atTheEnd: ReadonlyArray<number>
let cursor: string

interface Page {
  readonly data: ReadonlyArray<Record<string, unknown>>
  readonly has_more: boolean
  readonly next_cursor: string
}

/** Reads all items of a list from a cursor on; returns them and the last cursor. */
const read = async (server: ServerProcess, path: string, from = "") => {
  const all: Array<Record<string, unknown>> = []
  let after = from
  for (;;) {
    const url = `${server.baseUrl}${path}?limit=1000${after === "" ? "" : `&cursor=${encodeURIComponent(after)}`}`
    const response = await fetch(url, { headers: { authorization: `Bearer ${key}` } })
    assert.strictEqual(response.status, 200)
    const page = (await response.json()) as Page
    all.push(...page.data)
    after = page.next_cursor
    if (!page.has_more) return { all, after }
  }
}

const idsOf = (items: ReadonlyArray<Record<string, unknown>>, name = "id") => items.map((item) => item[name] as number)

const refused = async (args: ReadonlyArray<string>, words: RegExp, env = {}) => {
  const result = await home.cabinet(args, env)
  expect(result).toMatchObject({ code: 1, stdout: "", stderr: expect.stringMatching(words) })
}

beforeAll(async () => {
  home = newHome()
  file = join(home.dir, "cabinet.tar.gz")
  receiver = await startReceiver()
  ordered = await startReceiver()
  const server = await home.serve(["--no-delivery"], ENV)
  key = server.welcome.key!.key
  await home.cabinet(["address", "add", receiver.url], ENV)
  await home.cabinet(["address", "add", ordered.url, "--order", "feed"], ENV)

  const acknowledged: Array<number> = []
  let enough = () => {}
  const warm = new Promise<void>((resolve) => (enough = resolve))
  let stop = false
  const send = async (sender: number) => {
    for (let n = 0; !stop; n++) {
      const body = JSON.stringify({ sender, n, text: "x".repeat(200) })
      const headers = { "content-type": "application/json" }
      const response = await fetch(server.welcome.source!.intake_url, { method: "POST", headers, body })
      acknowledged.push(((await response.json()) as { id: number }).id)
      if (acknowledged.length === ANSWERS_BEFORE) enough()
    }
  }
  const senders = Array.from({ length: SENDERS }, (_, sender) => send(sender))
  await warm
  before = [...acknowledged]
  const made = await home.cabinet(["backup", file, "--json"])
  const during = acknowledged.length
  stop = true
  await Promise.all(senders)
  assert.strictEqual(made.stderr, "")
  const told = JSON.parse(made.stdout) as Record<string, unknown>
  assert.deepInclude(told, { file, postgres: 18 })
  assert.isAbove(during, before.length)
  const feed = await read(server, "/api/v1/events")
  atTheEnd = idsOf(feed.all)
  cursor = feed.after
  assert.strictEqual(await server.stop("SIGTERM"), 0)
})
afterAll(async () => {
  await endAll()
  await receiver.close()
  await ordered.close()
})

it("a backup overwrites nothing, and requires a database", async () => {
  await refused(["backup", file], /exists already, and a backup does not overwrite files/)
  await refused(
    ["backup", join(home.dir, "other.tar"), "--data-dir", join(home.dir, "none")],
    /^There is no database in /,
  )
  await refused(["backup", "x.tar"], /pg_dump/, { DATABASE_URL: "postgres://nobody@127.0.0.1:9/none" })
  await refused(["restore", file], /^There is a database in .* already/)
  expect(readdirSync(home.dir).filter((name) => name.includes(".tar"))).toEqual(["cabinet.tar.gz"])
})

/** Ends a backup by a signal while it writes; returns its exit code and what it leaves in its directory. */
const brokenOff = async (directory: string, signal: NodeJS.Signals) => {
  const child = home.start(["backup", join(directory, "broken.tar")])
  const gone = new Promise<number | null>((resolve) => child.once("close", resolve))
  const isWriting = () =>
    readdirSync(directory).some((name) => name.endsWith(".cabinet-partial") && statSync(join(directory, name)).size > 0)
  while (!isWriting()) {
    assert.strictEqual(child.exitCode, null)
    await sleep(1)
  }
  child.kill(signal)
  const code = await gone
  return { code, left: readdirSync(directory) }
}

it("a killed backup leaves nothing under its name, and the next removes its remains; an interrupted one leaves nothing", async () => {
  const directory = join(home.dir, "backups")
  mkdirSync(directory)
  // Enough to copy, in memory, that a signal always arrives before the end.
  const long = join(home.dataDir, "pgdata", "base", "1", "999999999")
  writeFileSync(long, "")
  truncateSync(long, 1024 ** 3)
  expect(await brokenOff(directory, "SIGINT")).toEqual({ code: 130, left: [] })
  expect(await brokenOff(directory, "SIGTERM")).toEqual({ code: 143, left: [] })
  expect(await brokenOff(directory, "SIGKILL")).toEqual({
    code: null,
    left: [expect.stringMatching(/^broken\.tar\..+\.cabinet-partial$/)],
  })
  rmSync(long)
  const next = await home.cabinet(["backup", join(directory, "next.tar")])
  expect(next).toMatchObject({ code: 0, stderr: "" })
  expect(readdirSync(directory)).toEqual(["next.tar"])
})

it("a killed restore leaves nothing that a server would start from, and does not block the next one", async () => {
  const dataDir = join(home.dir, "killed")
  const isUnpacking = () =>
    existsSync(dataDir) && readdirSync(dataDir).some((name) => existsSync(join(dataDir, name, "pgdata", "base")))
  const child = home.start(["restore", file, "--data-dir", dataDir])
  while (!isUnpacking()) await sleep(1)
  const gone = new Promise((resolve) => child.once("close", resolve))
  child.kill("SIGKILL")
  await gone
  expect(existsSync(join(dataDir, "pgdata"))).toBe(false)
  const again = await home.cabinet(["restore", file, "--data-dir", dataDir, "--json"])
  expect(again).toMatchObject({ code: 0, stderr: "" })
  expect(readdirSync(dataDir).filter((name) => name.startsWith("pgdata"))).toEqual(["pgdata"])
  rmSync(dataDir, { recursive: true })
})

it("a restored backup has everything acknowledged before the backup, and continues", async () => {
  const dataDir = join(home.dir, "restored")
  expect(await home.cabinet(["restore", file, "--data-dir", dataDir])).toMatchObject({ code: 0, stderr: "" })
  const server = await home.serve([], { ...ENV, CABINET_DATA_DIR: dataDir })
  expect(server.welcome.source).toBeNull()

  const events = idsOf((await read(server, "/api/v1/events")).all)
  const rows = idsOf((await read(server, "/api/v1/tables/sources/first_source/rows")).all, "_event_id")
  const known = new Set(events)
  expect(before.filter((id) => !known.has(id))).toEqual([])
  expect([...rows].sort((a, b) => a - b)).toEqual([...events].sort((a, b) => a - b))
  // It is a prefix of what there was, in the same order and without gaps.
  expect(events).toEqual(atTheEnd.slice(0, events.length))

  // A client that had read past the backup gets only the last events that it knows once more.
  const again = await read(server, "/api/v1/events", cursor)
  expect(idsOf(again.all)).toEqual(again.all.length === 0 ? [] : events.slice(-again.all.length))
  expect((await read(server, "/api/v1/events", again.after)).all).toEqual([])
  const source = JSON.parse(
    (await home.cabinet(["source", "show", "1", "--json"], { CABINET_DATA_DIR: dataDir })).stdout,
  )
  const posted = await fetch(new URL(source.intake_path as string, server.baseUrl), {
    method: "POST",
    body: new URLSearchParams({ after: "the restore" }),
  })
  const { id } = (await posted.json()) as { id: number }
  expect(idsOf((await read(server, "/api/v1/events", again.after)).all)).toEqual([id])
  // A client that uses the old cursor only now also gets the new event, perhaps after repeated ones.
  expect(idsOf((await read(server, "/api/v1/events", cursor)).all).at(-1)).toBe(id)

  const idsAt = ({ received }: Receiver) =>
    received.map(({ body }) => (JSON.parse(body.toString()) as { data: { id: number } }).data.id)
  const delivered = () => new Set(idsAt(receiver))
  await receiver.until(() => [...events, id].every((each) => delivered().has(each)))
  // Its position is behind the last event of the old epoch, and goes on into the new one.
  await ordered.until(() => idsAt(ordered).length > events.length)
  expect(idsAt(ordered)).toEqual([...events, id])
  expect(await server.stop("SIGTERM")).toBe(0)
})

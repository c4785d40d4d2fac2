/**
 * A URL with several hosts: every kind of connection of a cabinet finds the primary, past a missing host and a standby. When
 * the primary dies and its synchronous standby takes over, nothing acknowledged is lost, and the feed keeps its order.
 */
import { cpSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { runScript } from "@data-cabinet/store-pg/connection/AuthorSession"
import { connectionSecurity } from "@data-cabinet/store-pg/connection/ConnectionSecurity"
import { ReaderClient } from "@data-cabinet/store-pg/connection/ReaderClient"
import { nextDue } from "@data-cabinet/store-pg/maintenance/NextDue"
import { openCabinet } from "data-cabinet"
import { openDatabase } from "data-cabinet/compose/OpenDatabase"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { testCabinet } from "../support/testCabinet.ts"

const DATABASE = "orders"
const SETTINGS = { wal_level: "replica", hot_standby: "on" }

let home: ClusterHome
let primary: TestCluster
let standby: TestCluster

const address = (attributes: string, ...hosts: ReadonlyArray<string>) =>
  `postgres://cabinet@localhost/${DATABASE}?host=${encodeURIComponent(hosts.join(","))}&target_session_attrs=${attributes}`

const nowhere = "/nowhere"

beforeAll(async () => {
  home = clusterHome()
  primary = await home.init("primary")
  await primary.start(SETTINGS)
  await primary.createCabinet(DATABASE)
  await primary.end("SIGINT")
  cpSync(primary.pgdata, join(home.dir, "standby"), { recursive: true })
  rmSync(join(home.dir, "standby", "postmaster.opts"), { force: true })
  writeFileSync(join(home.dir, "standby", "standby.signal"), "")
  const from = `primary_conninfo = 'host=${primary.socketDir} user=postgres'\n`
  writeFileSync(join(home.dir, "standby", "postgresql.auto.conf"), from)
  standby = home.cluster("standby")
  await primary.start({ ...SETTINGS, synchronous_standby_names: "*" })
  await standby.start(SETTINGS)
})
const closing: Array<() => Promise<void>> = []
afterAll(async () => {
  for (const close of closing) await close()
  await home.remove()
})

it.each([
  ["any", "standby"],
  ["read-write", "primary"],
  ["primary", "primary"],
  ["read-only", "standby"],
  ["standby", "standby"],
  ["prefer-standby", "standby"],
] as const)("target_session_attrs=%s of a list finds the %s", async (attributes, found) => {
  const { socketDir } = found === "primary" ? primary : standby
  const url = address(attributes, nowhere, standby.socketDir, primary.socketDir)
  assert.strictEqual((await Effect.runPromise(connectionSecurity(url))).server, socketDir)
})

it("prefer-standby uses a primary if there is no standby, and read-write says why no host fits", async () => {
  const { server } = await Effect.runPromise(connectionSecurity(address("prefer-standby", nowhere, primary.socketDir)))
  assert.strictEqual(server, primary.socketDir)
  const none = openDatabase({ url: address("read-write", nowhere, standby.socketDir) })
  const { code, message } = await Effect.runPromise(Effect.flip(none))
  assert.strictEqual(code, "database_unreachable")
  assert.match(
    message,
    /none of the servers can be used: \/nowhere:5432: connect ENOENT .*; .*standby.s:5432: it is a standby/,
  )
})

it("every kind of connection of a cabinet finds the primary of the list", async () => {
  const url = address("read-write", nowhere, standby.socketDir, primary.socketDir)
  const { roles } = await Effect.runPromise(openDatabase({ url }))
  if (!roles.reader.there || !roles.author.there) throw new Error("no roles")
  await Effect.runPromise(nextDue(url, { originalDays: 90, logDays: 30, failedLogDays: 90, auditDays: 400 }))
  const script = "SELECT pg_is_in_recovery() AS standby"
  const [outcome] = await Effect.runPromise(
    runScript({ url: roles.author.url, admittedBy: url, script, transaction: true }),
  )
  assert.deepStrictEqual(outcome!.rows, ['{"standby":false}'])
})

it("rows are read from a standby of the list, and from the primary once no standby is left", async () => {
  const url = address("read-write", primary.socketDir, standby.socketDir)
  const { roles } = await Effect.runPromise(openDatabase({ url }))
  if (!roles.reader.there) throw new Error(roles.reader.reason)
  const readUrl = address("prefer-standby", nowhere, primary.socketDir, standby.socketDir)
  const store = testCabinet(url, { settings: { reading: "on", readUrl, readLag: 60_000 }, roles })
  const state = await store.runPromise(ReaderClient.use((client) => client.standby!.settled))
  await store.dispose()
  expect(state).toMatchObject({ used: true, reason: null })
})

it("a failover loses nothing acknowledged, keeps the feed's order, and leaves the old primary alone", async () => {
  const cabinet = await openCabinet({
    databaseUrl: address("read-write", primary.socketDir, standby.socketDir),
    delivery: false,
    intakeRate: 0,
  })
  closing.push(() => cabinet.close())
  const source = await cabinet.sources.create({ name: "Orders" })
  const acknowledged = new Set<string>()
  let refused = 0
  let isOver = false
  const send = async (sender: number) => {
    for (let n = 0; !isOver; n++) {
      const mark = `${sender}-${n}`
      const sent = await cabinet.intake(source.id, { fields: { mark } }).then(
        () => true,
        () => false,
      )
      if (sent) acknowledged.add(mark)
      else {
        refused++
        await sleep(20)
      }
    }
  }
  const seen: Array<string> = []
  let cursor: string | undefined
  const read = async () => {
    for await (const event of cabinet.feed({ ...(cursor === undefined ? {} : { after: cursor }), follow: false })) {
      cursor = event.cursor
      seen.push((event.payload as { mark: string }).mark)
    }
  }
  const senders = [1, 2, 3, 4].map(send)
  while (acknowledged.size < 50) await sleep(5)
  await read()
  const before = [...seen]
  await primary.end("SIGKILL")
  while (refused === 0) await sleep(5)
  await standby.run("SELECT pg_promote(true)")
  const atFailover = acknowledged.size
  while (acknowledged.size < atFailover + 50) await sleep(5)
  // The old primary wakes up without knowing that it was replaced.
  await primary.start({ ...SETTINGS, synchronous_standby_names: "*" })
  const [old] = await primary.run("SELECT count(*)::int AS events FROM cabinet.event", DATABASE)
  const atWaking = acknowledged.size
  while (acknowledged.size < atWaking + 50) await sleep(5)
  isOver = true
  await Promise.all(senders)
  await read()
  assert.deepStrictEqual(seen.slice(0, before.length), before)
  assert.strictEqual(new Set(seen).size, seen.length)
  assert.deepStrictEqual(
    [...acknowledged].filter((mark) => !seen.includes(mark)),
    [],
  )
  const [still] = await primary.run("SELECT count(*)::int AS events FROM cabinet.event", DATABASE)
  assert.deepStrictEqual(still, old)
})

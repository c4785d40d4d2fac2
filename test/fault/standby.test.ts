/**
 * Rows are read from a real streaming standby while it is within the lag, and otherwise from the primary, without a failed
 * read.
 */
import { cpSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { ReaderClient } from "@data-cabinet/store-pg/connection/ReaderClient"
import { ensureRoles, type Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { endAll, newHome } from "../support/cabinetProcess.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { testCabinet } from "../support/testCabinet.ts"

const DATABASE = "orders"

// Two servers of its own, and the machine may have other things to do.
let home: ClusterHome
let primary: TestCluster
let standby: TestCluster
let roles: Roles

const SETTINGS = { wal_level: "replica", hot_standby: "on", max_standby_streaming_delay: "30s" }

const on = (statement: string) => primary.run(statement, DATABASE)

/** Creates a table or view in `public` that the reader may read. */
const make = async (what: string, name: string) => {
  await on(what)
  await on(`GRANT SELECT ON public.${name} TO ${roles.reader.role}`)
}

const caughtUp = async () => {
  const [{ lsn }] = (await on("SELECT pg_current_wal_flush_lsn()::text AS lsn")) as [{ lsn: string }]
  while ((await standby.run(`SELECT pg_last_wal_replay_lsn() >= '${lsn}' AS is`))[0]!["is"] !== true) await sleep(10)
}

beforeAll(async () => {
  home = clusterHome()
  primary = await home.init("primary")
  await primary.start(SETTINGS)
  await primary.createCabinet(DATABASE)
  const url = primary.url(DATABASE)
  roles = await Effect.runPromise(ensureRoles({ url }).pipe(Effect.provide(OwnerClient.layer({ url }))))
  await make("CREATE VIEW public.here AS SELECT 1 AS id, pg_is_in_recovery() AS standby", "here")
  await make("CREATE TABLE public.note (id int PRIMARY KEY)", "note")
  await primary.end("SIGINT")
  cpSync(primary.pgdata, join(home.dir, "standby"), { recursive: true })
  rmSync(join(home.dir, "standby", "postmaster.opts"), { force: true })
  writeFileSync(join(home.dir, "standby", "standby.signal"), "")
  const from = `primary_conninfo = 'host=${primary.socketDir} user=postgres'\n`
  writeFileSync(join(home.dir, "standby", "postgresql.auto.conf"), from)
  await primary.start(SETTINGS)
  standby = home.cluster("standby")
  await standby.start(SETTINGS)
})
afterAll(async () => {
  await endAll()
  await home.remove()
})

const reading = (readLag: number, readUrl = standby.url(DATABASE)) => {
  const runtime = testCabinet(primary.url(DATABASE), { settings: { reading: "on", readUrl, readLag }, roles })
  return {
    state: () => runtime.runPromise(ReaderClient.use((client) => client.standby!.settled)),
    isNear: () => runtime.runPromise(ReaderClient.use((client) => Effect.succeed(client.standby!.isNear()))),
    rows: async (name: string) => {
      const page = SelectRows.use((rows) => fromCall((call) => rows.page({ schema: "public", name, params: [] }, call)))
      const { items } = await runtime.runPromise(page)
      return items.texts().map((item) => JSON.parse(item) as Record<string, unknown>)
    },
    [Symbol.asyncDispose]: () => runtime.dispose(),
  }
}

it("a standby within the lag serves reads, functions included", async () => {
  await using near = reading(60_000)
  expect(await near.state()).toMatchObject({ used: true, reason: null, maxLagMillis: 60_000 })
  for (const _ of [1, 2, 3]) expect(await near.rows("here")).toEqual([{ id: 1, standby: true }])
})

it("a lagging standby is not used until it has caught up, and no read misses more than the limit", async () => {
  await using near = reading(500)
  // A busy machine may look later than after half a second.
  await expect.poll(() => near.state()).toMatchObject({ used: true })
  await standby.run("SELECT pg_wal_replay_pause()")
  await on("INSERT INTO public.note VALUES (1)")
  while (await near.isNear()) await sleep(10)
  expect(await near.rows("here")).toEqual([{ id: 1, standby: false }])
  expect(await near.rows("note")).toEqual([{ id: 1 }])
  await standby.run("SELECT pg_wal_replay_resume()")
  // The primary may serve one more read.
  while ((await near.rows("here"))[0]!["standby"] !== true) await sleep(10)
})

it("the primary serves rows that the standby does not have yet", async () => {
  await using near = reading(60_000)
  expect(await near.state()).toMatchObject({ used: true })
  await standby.run("SELECT pg_wal_replay_pause()")
  await make("CREATE TABLE public.fresh (id int PRIMARY KEY)", "fresh")
  await on("INSERT INTO public.fresh VALUES (7)")
  expect(await near.isNear()).toBe(true)
  expect(await near.rows("fresh")).toEqual([{ id: 7 }])
  await standby.run("SELECT pg_wal_replay_resume()")
  await caughtUp()
})

it("no read uses a URL that is not a standby's", async () => {
  await using wrong = reading(1_000, primary.url(DATABASE))
  expect(await wrong.state()).toMatchObject({
    used: false,
    reason: expect.stringMatching(/is not a standby but a primary/),
  })
  expect(await wrong.rows("here")).toEqual([{ id: 1, standby: false }])
})

it("doctor reports the lag of the standby", async () => {
  const env = { DATABASE_URL: primary.url(DATABASE), DATABASE_READ_URL: standby.url("any") }
  const { stdout } = await newHome().cabinet(["doctor", "--json"], env)
  const told = JSON.parse(stdout) as { standby: object; findings: ReadonlyArray<object> }
  expect(told.standby).toMatchObject({ used: true, lag_millis: expect.any(Number), max_lag_millis: 5000 })
  expect(told.findings).toContainEqual(
    expect.objectContaining({
      check: "standby",
      level: "ok",
      message: expect.stringMatching(/ s behind \(at most 5 s\)/),
    }),
  )
})

it("no read fails when the standby freezes during it", async () => {
  await using near = reading(60_000)
  expect(await near.state()).toMatchObject({ used: true })
  expect(await near.rows("here")).toEqual([{ id: 1, standby: true }])
  const sessions = await standby.run("SELECT pid FROM pg_stat_activity WHERE application_name LIKE 'data-cabinet%'")
  const pids = sessions.map(({ pid }) => pid as number)
  assert.isAtLeast(pids.length, 2)
  try {
    for (const pid of pids) process.kill(pid, "SIGSTOP")
    expect(await near.rows("here")).toEqual([{ id: 1, standby: false }])
    expect(await near.isNear()).toBe(false)
  } finally {
    for (const pid of pids) process.kill(pid, "SIGCONT")
  }
})

it("no read fails when the standby is killed, and none uses it until it is back", async () => {
  await using near = reading(60_000)
  expect(await near.state()).toMatchObject({ used: true })
  let killed = false
  const answers: Array<unknown> = []
  const client = async () => {
    for (let left = 5; left > 0; left -= killed ? 1 : 0) answers.push((await near.rows("here"))[0]?.["standby"])
  }
  const clients = [client(), client(), client()]
  while (answers.length < 10) await sleep(5)
  await standby.end("SIGKILL")
  killed = true
  await Promise.all(clients)
  assert.isTrue(answers[0])
  assert.isFalse(answers.at(-1))
  expect(await near.state()).toMatchObject({ used: false, reason: expect.stringMatching(/^It /) })
  await standby.start(SETTINGS)
  await caughtUp()
  await expect.poll(() => near.state()).toMatchObject({ used: true })
  expect(await near.rows("here")).toEqual([{ id: 1, standby: true }])
})

/**
 * A primary without its synchronous standby: its commits are durable locally, and wait. Nothing that a cabinet does (a time
 * limit, a client that leaves, its own shutdown) may make PostgreSQL end that wait: it would show events that the next
 * primary lacks.
 */
import { cpSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { setTimeout as sleep } from "node:timers/promises"
import { FeedTailStore } from "@data-cabinet/core/feed/FeedTailStore"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { orUnavailable } from "@data-cabinet/store-pg/connection/StoreFailure"
import { PgClient } from "@effect/sql-pg"
import { Effect, ManagedRuntime } from "effect"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { endAll, newHome, type ServerProcess } from "../support/cabinetProcess.ts"
import { intakeCabinet } from "../support/intakeCabinet.ts"
import { type ClusterHome, clusterHome, type TestCluster } from "../support/cluster.ts"
import { testCabinet } from "../support/testCabinet.ts"

const DATABASE = "orders"
const SETTINGS = { wal_level: "replica", hot_standby: "on", log_line_prefix: "%a " }
/** Settings by which no commit succeeds without a standby. */
const STRICT = { ...SETTINGS, synchronous_standby_names: "*" }

vi.setConfig({ testTimeout: 120_000, hookTimeout: 120_000 })

let home: ClusterHome
let primary: TestCluster
let standby: TestCluster

/** The sessions whose wait for the standby PostgreSQL has ended. */
const cancelled = () =>
  readFileSync(join(home.dir, "primary.log"), "utf8")
    .split("\n")
    .filter((line) => /canceling (the )?wait for synchronous replication/.test(line))
    .map((line) => line.replace(/ [0-9a-f]{8} WARNING.*/, ""))

const count = async (table: string, database = DATABASE) =>
  Number((await primary.run(`SELECT count(*) AS n FROM ${table}`, database))[0]!["n"])

/** How many commits wait for the standby. */
const waiting = async () =>
  Number((await primary.run("SELECT count(*) AS n FROM pg_stat_activity WHERE wait_event = 'SyncRep'"))[0]!["n"])

const until = async (holds: () => Promise<boolean>) => {
  while (!(await holds())) await sleep(20)
}

const standbyIsBack = async () => {
  await standby.start(SETTINGS)
  await until(async () => (await waiting()) === 0)
}

beforeAll(async () => {
  home = clusterHome()
  primary = await home.init("primary")
  await primary.start(SETTINGS)
  await primary.createCabinet(DATABASE)
  await primary.run("CREATE TABLE public.note (id int PRIMARY KEY)", DATABASE)
  await primary.run("GRANT ALL ON public.note TO PUBLIC", DATABASE)
  await primary.end("SIGINT")
  cpSync(primary.pgdata, join(home.dir, "standby"), { recursive: true })
  rmSync(join(home.dir, "standby", "postmaster.opts"), { force: true })
  writeFileSync(join(home.dir, "standby", "standby.signal"), "")
  const from = `primary_conninfo = 'host=${primary.socketDir} user=postgres'\n`
  writeFileSync(join(home.dir, "standby", "postgresql.auto.conf"), from)
  standby = home.cluster("standby")
  await primary.start(STRICT)
  await standby.start(SETTINGS)
})
afterAll(async () => {
  await endAll()
  await home.remove()
})

it("a statement whose caller has left is visible once the standby has it, not before", async () => {
  const runtime = ManagedRuntime.make(OwnerClient.layer({ url: primary.url(DATABASE) }))
  const insert = (id: number) => PgClient.PgClient.use((sql) => sql.unsafe(`INSERT INTO public.note VALUES (${id})`))
  await runtime.runPromise(insert(0))
  await standby.end("SIGKILL")
  const abandoned = await runtime.runPromise(Effect.timeoutOption(insert(1), "300 millis"))
  expect(abandoned._tag).toBe("None")
  // Its session was abandoned, and the next statement uses another.
  expect(await runtime.runPromise(PgClient.PgClient.use((sql) => sql.unsafe("SELECT 1 AS one")))).toEqual([{ one: 1 }])
  expect(await count("public.note")).toBe(1)

  const began = performance.now()
  const inTransaction = PgClient.PgClient.use((sql) => orUnavailable(sql.withTransaction(insert(2))))
  const late = await runtime.runPromise(Effect.flip(inTransaction))
  expect(late).toMatchObject({ _tag: "StoreUnavailable", message: "The database did not respond in time." })
  assert.isBelow(performance.now() - began, 9_500)
  expect(await count("public.note")).toBe(1)
  expect(await waiting()).toBe(2)

  // The service ends before these commits.
  await runtime.dispose()
  expect(await waiting()).toBe(2)
  await standbyIsBack()
  expect(await count("public.note")).toBe(3)
  expect(cancelled()).toEqual([])
})

const serve = (database = DATABASE): Promise<ServerProcess> => {
  const hosts = encodeURIComponent(`${primary.socketDir},${standby.socketDir}`)
  const url = `postgres://cabinet@localhost/${database}?host=${hosts}&target_session_attrs=read-write`
  return newHome().serve([], { DATABASE_URL: url })
}

interface Page {
  readonly data: ReadonlyArray<{ readonly id: number; readonly payload: { readonly n: number } }>
  readonly next_cursor: string
}

const sender =
  (intakePath: string) =>
  async ({ baseUrl }: ServerProcess, n: number) => {
    const began = performance.now()
    const response = await fetch(baseUrl + intakePath, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ n }),
    })
    const body = (await response.json()) as { id?: number }
    return { status: response.status, id: body.id, seconds: (performance.now() - began) / 1_000 }
  }

const askFeed = ({ baseUrl }: ServerProcess, key: string, cursor = "") => {
  const from = cursor === "" ? "" : `?cursor=${encodeURIComponent(cursor)}`
  return fetch(`${baseUrl}/api/v1/events${from}`, { headers: { "x-api-key": key } })
}

const feed = async (server: ServerProcess, key: string, cursor = ""): Promise<Page> => {
  const response = await askFeed(server, key, cursor)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

/** Resolves once the server has found the database again, and its feed waits for a standby. */
const feedWaits = (server: ServerProcess, key: string, cursor: string) =>
  until(async () => {
    const response = await askFeed(server, key, cursor)
    expect(response.status).toBe(503)
    return (await response.text()).includes("did not respond in time")
  })

/** A crash of the whole server, and a crash of one session, after which the server recovers by itself. */
const CRASHES: Readonly<Record<string, () => Promise<void>>> = {
  "a killed server": async () => {
    await primary.end("SIGKILL")
    await primary.start(STRICT)
  },
  "a killed session": async () => {
    const checkpointer = () =>
      primary.run("SELECT pid FROM pg_stat_activity WHERE backend_type = 'checkpointer'").then(
        ([found]) => found?.["pid"] ?? null,
        () => null,
      )
    const before = await checkpointer()
    const [row] = await primary.run("SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep' LIMIT 1")
    process.kill(row!["pid"] as number, "SIGKILL")
    // The server responds until it notices the crash; after the recovery all its processes are new.
    await until(async () => ![before, null].includes((await checkpointer()) as number | null))
  },
}

it.each(Object.entries(CRASHES))(
  "after %s the feed shows recovered events once a standby has them, not before",
  async (name, crash) => {
    const database = name.replaceAll(" ", "_")
    await primary.createCabinet(database)
    const server = await serve(database)
    const { key } = server.welcome.key!
    const send = sender(server.welcome.source!.intake_path)
    expect((await send(server, 1)).status).toBe(200)
    const before = await feed(server, key)
    const follower = testCabinet(primary.url(database))
    const end = () => follower.runPromise(FeedTailStore.use((tail) => Effect.timeoutOption(tail.end, "2 seconds")))
    expect((await end())._tag).toBe("Some")
    await standby.end("SIGKILL")
    expect((await send(server, 2)).status).toBe(503)
    expect(await count("cabinet.event", database)).toBe(1)
    await crash()
    // PostgreSQL shows the recovered event to every session.
    expect(await count("cabinet.event", database)).toBe(2)
    await feedWaits(server, key, before.next_cursor)
    // Followers of the feed do not get it either.
    expect((await end())._tag).toBe("None")
    await standbyIsBack()
    expect((await end())._tag).toBe("Some")
    await follower.dispose()
    const after = await feed(server, key, before.next_cursor)
    expect(after.data.map(({ payload }) => payload.n)).toEqual([2])
    expect(cancelled()).toEqual([])
    expect(await server.stop("SIGTERM")).toBe(0)
  },
)

it("intake refuses in time, the feed shows only what a standby has, and both continue once the standby takes over", async () => {
  const server = await serve()
  const { key } = server.welcome.key!
  const send = sender(server.welcome.source!.intake_path)
  const first = await send(server, 1)
  expect(first.status).toBe(200)
  const before = await feed(server, key)
  expect(before.data.map(({ payload }) => payload.n)).toEqual([1])
  await standby.end("SIGKILL")

  // Both sequential and concurrent commits wait, or are queued behind one that waits.
  const refused = [
    await send(server, 2),
    ...(await Promise.all([send(server, 3), send(server, 4)])),
    await send(server, 5),
  ]
  expect(refused.map(({ status }) => status)).toEqual([503, 503, 503, 503])
  for (const { seconds } of refused) assert.isBelow(seconds, 10)
  const meanwhile = await feed(server, key, before.next_cursor)
  expect(meanwhile.data).toEqual([])

  // It ends while its commit still waits.
  expect(await server.stop("SIGTERM")).toBe(0)
  assert.isAtLeast(await waiting(), 1)
  expect(await count("cabinet.event")).toBe(1)

  const next = await serve()
  expect((await send(next, 6)).status).toBe(503)
  // A new process cannot know what this server has recovered.
  await feedWaits(next, key, meanwhile.next_cursor)
  await primary.end("SIGKILL")
  // The old leader returns alone, with events that no other server has, and then fails permanently.
  await primary.start(STRICT)
  expect(await count("cabinet.event")).toBeGreaterThan(1)
  await feedWaits(next, key, meanwhile.next_cursor)
  await primary.end("SIGKILL")
  await standby.start(SETTINGS)
  await standby.run("SELECT pg_promote()")
  let accepted = await send(next, 7)
  while (accepted.status !== 200) accepted = await send(next, 7)
  const after = await feed(next, key, meanwhile.next_cursor)
  expect(after.data.map(({ id, payload }) => [id, payload.n])).toEqual([[accepted.id, 7]])
  expect((await feed(next, key)).data.map(({ payload }) => payload.n)).toEqual([1, 7])
  expect(cancelled()).toEqual([])
})

it("an event whose commit is cancelled is not acknowledged, even if it becomes visible", async () => {
  const cabinet = await intakeCabinet(standby.url(DATABASE))
  const source = await cabinet.source("Orders")
  const post = () => fetch(cabinet.address(source), { method: "POST", body: "{}" }).then(({ status }) => status)
  expect(await post()).toBe(200)
  expect(await cabinet.feed(source.id)).toHaveLength(1)
  await standby.run("ALTER SYSTEM SET synchronous_standby_names = 'nobody'")
  await standby.run("SELECT pg_reload_conf()")
  // Waiting starts when the checkpointer has read the settings; earlier commits are acknowledged at once.
  const WAITING = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  const waits = () => until(async () => (await standby.run(WAITING)).length > 0).then(() => false)
  let sent = 2
  let posted = post()
  while (await Promise.race([posted.then(() => true), waits()])) {
    sent += 1
    posted = post()
  }
  await standby.run(`SELECT pg_cancel_backend(pid) FROM (${WAITING}) w`)
  expect(await posted).toBe(503)
  expect(await cabinet.feed(source.id)).toHaveLength(sent)
  await standby.run("ALTER SYSTEM RESET synchronous_standby_names")
  await standby.run("SELECT pg_reload_conf()")
  expect(await post()).toBe(200)
  await cabinet.close()
})

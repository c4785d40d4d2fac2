/**
 * The work behind the feed is done once for each event: killed between work and position, stopped for longer than a lease,
 * and without its connection.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { activityFollower } from "@data-cabinet/core/activity/CountActivity"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { runFollower } from "@data-cabinet/core/follower/FollowerLoop"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { Sources } from "@data-cabinet/core/source/Sources"
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { afterAll, afterEach, assert, beforeAll, it, vi } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

const WORKER = program(new URL("followerWorker.ts", import.meta.url))

const GATE = 77_001
const EVENTS = 20
/** One process at work must not time out under the load of other tests. */
const TIMEOUT = { timeout: 120_000 }

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let sourceId: number
beforeAll(async () => {
  cabinet = testCabinet(database.url)
  sourceId = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Followed" })))).id
  await database.run(
    `CREATE FUNCTION public.wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS
     'BEGIN PERFORM pg_catalog.pg_advisory_xact_lock_shared(${GATE}); RETURN NEW; END'`,
  )
  await database.run(
    "CREATE TRIGGER gate BEFORE UPDATE OF event_id ON cabinet.follower FOR EACH ROW EXECUTE FUNCTION public.wait_at_gate()",
  )
})
afterAll(() => cabinet.dispose())

const children: Array<ChildProcess> = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
  }
})
const worker = (step: "stop" | "go"): ChildProcess => {
  const child = fork(WORKER, [database.url, step], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  children.push(child)
  return child
}

const accept = async () => {
  for (let n = 0; n < EVENTS; n++) {
    await cabinet.runPromise(EventLog.use((log) => appendEvents(log, requestOf(sourceId, `body ${n}`, false))))
  }
}
/** The end of every lease and of every rest. */
const later = () => database.run("UPDATE cabinet.clock SET shift = shift + interval '31 seconds'")
const counted = async () => {
  const [row] = await database.run("SELECT coalesce(sum(events), 0)::int AS events FROM cabinet.activity")
  return row!["events"]
}
const accepted = async () => (await database.run("SELECT count(*)::int AS events FROM cabinet.event"))[0]!["events"]
/** One search and its work in this process. */
const serve = () => cabinet.runPromise(FollowerStore.use((store) => runFollower(store, activityFollower)))

/** Runs this while no follower can move, once one has done its work and is about to. */
const atGate = (meanwhile: (pid: number) => Promise<unknown>) =>
  cabinet.runPromise(
    PgClient.PgClient.use((sql) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* sql.unsafe(`SELECT pg_advisory_xact_lock(${GATE})`)
          yield* Effect.promise(async () => {
            const pid = await vi.waitFor(async () => {
              const [waiting] = await database.run(
                `SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND objid = ${GATE} AND NOT granted`,
              )
              return Number(waiting!["pid"])
            }, TIMEOUT)
            await meanwhile(pid)
          })
        }),
      ),
    ),
  )

const settle = async () => {
  await vi.waitFor(async () => {
    await serve()
    assert.strictEqual(await counted(), await accepted())
  }, TIMEOUT)
}

it("a follower whose process is killed between its work and its position does that work once", async () => {
  await accept()
  const before = await counted()
  const child = worker("go")
  await atGate(async () => {
    const ended = once(child, "exit")
    child.kill("SIGKILL")
    await ended
    assert.strictEqual(await counted(), before)
  })
  await later()
  await settle()
})

it("a follower whose process stops for longer than its lease is served by another, and once", async () => {
  await later()
  await accept()
  const child = worker("stop")
  await once(child, "message", { signal: AbortSignal.timeout(60_000) })
  await later()
  await settle()
  const turn = once(child, "message")
  child.kill("SIGCONT")
  assert.deepStrictEqual((await turn)[0], "turn lost")
  assert.strictEqual(await counted(), await accepted())
})

it("a follower whose process stops between its work and its position waits only for its own session", async () => {
  await later()
  await accept()
  const before = await counted()
  const child = worker("go")
  let session = 0
  await atGate(async (pid) => {
    session = pid
    child.kill("SIGSTOP")
    await later()
    assert.strictEqual(await serve(), 1_000)
  })
  assert.strictEqual(await counted(), before)
  // As PostgreSQL does with a session that is idle in a transaction for a minute.
  await database.run(`SELECT pg_terminate_backend(${session}, 10000)`)
  await settle()
  child.kill("SIGCONT")
})

it("a follower that loses its connection between its work and its position is retried, and does its work once", async () => {
  await later()
  await accept()
  const child = worker("go")
  await atGate((pid) => database.run(`SELECT pg_terminate_backend(${pid}, 10000)`))
  await vi.waitFor(async () => {
    await later()
    assert.strictEqual(await counted(), await accepted())
  }, TIMEOUT)
  assert.isNull(child.exitCode)
  const [follower] = await database.run("SELECT failures, error FROM cabinet.follower WHERE kind = 'activity'")
  assert.deepStrictEqual(follower, { failures: 0, error: null })
})

/** A rebuild that is killed at any step leaves the old table or the new one, whole, and nothing besides once it is tidied. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { runFollower } from "@data-cabinet/core/follower/FollowerLoop"
import { FollowerStore } from "@data-cabinet/core/follower/FollowerStore"
import { TableRebuild, rebuildFollower } from "@data-cabinet/core/row/TableRebuild"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { randomOf, seeded } from "../support/random.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

const WORKER = program(new URL("rebuildWorker.ts", import.meta.url))

const STEPS = ["rows", "indexes", "changes", "swap"]
const random = seeded(Number(process.env["SEED"] ?? "1"))

/** The step after which the process is killed, and how many milliseconds later. The trials add random ones. */
const KILLS: ReadonlyArray<readonly [step: string, millis: number]> = [
  ["rows", 0],
  ["indexes", 3],
  ["changes", 5],
  ["swap", 0],
  ["swap", 15],
  ...Array.from(
    { length: Number(process.env["REBUILD_KILLS"] ?? "0") },
    () => [randomOf(random, STEPS), random(30)] as const,
  ),
]

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let source: number
beforeAll(async () => {
  cabinet = testCabinet(database.url)
  source = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Killed" })))).id
})
afterAll(() => cabinet.dispose())

const accept = async (fields: Record<string, string>): Promise<void> => {
  const [row] = await database.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)
  const events = [{ ...fingerprintedEvent(new Map(Object.entries(fields))), fingerprint: null }]
  const request = { ...requestOf(source, "", false), events, sourceVersion: Number(row!["version"]) }
  await cabinet.runPromise(EventLog.use((log) => appendEvents(log, request)))
}

const AT_WORK = `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
  AND state <> 'idle' AND pid <> pg_backend_pid()`

/** Kills the process some milliseconds after it says that it is at the step. */
const killedAt = async (step: string, millis: number): Promise<void> => {
  const child = fork(WORKER, [database.url, String(source)], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  const ended = once(child, "exit")
  child.on("message", (said) => {
    if (said === step) setTimeout(() => child.kill("SIGKILL"), millis)
  })
  await ended
  // Its session notices a moment later, and may complete a commit until then.
  await expect.poll(() => database.run(AT_WORK), { timeout: 100_000 }).toEqual([])
}

const rows = () => database.run("SELECT _event_id::float8 AS id, a, b FROM sources.killed ORDER BY _event_id")
const remains = () =>
  database.run(`
    SELECT relname::text AS name FROM pg_class WHERE relname LIKE 'rebuild\\_%'
    UNION ALL SELECT tgname::text FROM pg_trigger WHERE tgname LIKE 'cabinet\\_rebuild%'
    UNION ALL SELECT name FROM cabinet.follower WHERE kind = 'rebuild'
    UNION ALL SELECT event_id::text FROM cabinet.table_rebuild_change`)

it("a rebuild that is killed leaves every row once, and another process tidies up", async () => {
  for (let n = 0; n < 5; n++) await accept({ a: `a${n}`, b: `b${n}` })
  for (const [step, millis] of KILLS) {
    const before = await rows()
    await killedAt(step, millis)
    expect(await rows()).toEqual(before)
    await accept({ a: step, b: String(millis) })
    const [stored] = await database.run("SELECT state FROM cabinet.table_rebuild")
    await database.run("UPDATE cabinet.follower SET leased_until = cabinet.now() WHERE kind = 'rebuild'")
    const tidy = FollowerStore.use((followers) => runFollower(followers, rebuildFollower))
    await expect.poll(() => cabinet.runPromise(tidy).then(remains), { timeout: 100_000 }).toEqual([])
    expect((await rows()).length).toBe(before.length + 1)
    const { state } = await cabinet.runPromise(TableRebuild.use((all) => all.state(source)))
    expect(state).toBe(stored!["state"] === "done" ? "done" : "failed")
  }
  const wishes = { columns: [{ column: "b" }], withoutEmpty: false, nestBrackets: false }
  const done = await cabinet.runPromise(TableRebuild.use((all) => all.run(source, wishes)))
  expect(done).toMatchObject({ rows: 5 + KILLS.length, columns: ["b", "a"] })
  expect(await rows()).toHaveLength(5 + KILLS.length)
})

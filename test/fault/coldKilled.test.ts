/**
 * A process that moves old events into files is killed at each of its steps, and another continues: every event is read once, as
 * before, and no file stays that is not listed. `COLD_KILLS` kills more at random moments.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, readdirSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { setTimeout } from "node:timers/promises"
import { ColdHistory } from "@data-cabinet/core/cold/ColdHistory"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Effect, Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { coldCabinet, OLD_EVENTS } from "../support/coldCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { seeded } from "../support/random.ts"

const KILLS = Number(process.env["COLD_KILLS"] ?? 1)

const WORKER = program(new URL("coldWorker.ts", import.meta.url))
const database = withDatabase()
const root = mkdtempSync(join(tmpdir(), "cold-killed-"))
let old: Awaited<ReturnType<typeof coldCabinet>>
let before: Awaited<ReturnType<typeof everything>>
beforeAll(async () => {
  old = await coldCabinet(database.url, { coldStore: root })
  await old.followersReach(3)
  before = await everything()
})
const children: Array<ChildProcess> = []
afterAll(async () => {
  for (const child of children) child.kill("SIGKILL")
  await old.cabinet.dispose()
  rmSync(root, { recursive: true })
})

/** The feed, the list of events, and some events by their numbers. */
const everything = async () => {
  const feed = await old.walk(17)
  const list = await old.cabinet.runPromise(EventBrowser.use((browser) => browser.page({ limit: 100 })))
  const one = (id: number) => EventDetail.use((detail) => Effect.map(detail.find(id), Option.getOrNull))
  const ids = [1, 20, 21, OLD_EVENTS - 1]
  return { feed, list: list.items, found: await old.cabinet.runPromise(Effect.forEach(ids, one)) }
}

const worker = (step: string): ChildProcess => {
  const child = fork(WORKER, [database.url, root, step], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  children.push(child)
  return child
}
/** What a process says, at its step or at the end of its round. */
const said = async (child: ChildProcess) => {
  const [step] = (await once(child, "message", { signal: AbortSignal.timeout(120_000) })) as [string]
  return step
}
const end = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}

/** The end of every lease and wait. */
const later = async () => {
  await old.settle()
  await old.sql("UPDATE cabinet.cold_state SET leased_until = 'epoch'")
  await old.sql("UPDATE cabinet.cold_leftover SET remove_at = 'epoch'")
}

it.each(["read", "added", "finished", "listed", "deleted"])(
  "every event is read as before when a process is killed after it has %s, and another continues",
  async (step) => {
    if (step === "deleted") await later()
    const child = worker(step)
    assert.strictEqual(await said(child), step)
    await end(child)
    assert.deepEqual(await everything(), before)
    await old.sql("UPDATE cabinet.cold_state SET leased_until = 'epoch'")
  },
)

/** Nothing is left of those that were killed. */
const assertWhole = async () => {
  await old.move(true)
  await later()
  await old.move(true)
  await later()
  await old.move(true)
  const listed = await old.sql("SELECT name FROM cabinet.cold_file WHERE name IS NOT NULL ORDER BY name")
  assert.deepEqual(
    readdirSync(root).toSorted(),
    listed.map(({ name }) => String(name)),
  )
  assert.deepEqual(await everything(), before)
}

it("files that killed processes began are removed, and every old event is in one file", async () => {
  await assertWhole()
  assert.strictEqual(await old.rows(), 1)
})

it(`every event is read as before after kills at random moments (${KILLS} kills)`, { timeout: 3_600_000 }, async () => {
  const random = seeded(51)
  for (let kill = 0; kill < KILLS; kill++) {
    // Rows come back, so that there is something to write; the next time the same rows are deleted.
    if (kill % 2 === 0) {
      await old.cabinet.runPromise(ColdHistory.use((cold) => cold.thaw("all")))
      await old.sql("DELETE FROM cabinet.cold_file WHERE name IS NULL")
    }
    const child = worker("none")
    assert.strictEqual(await said(child), "begun")
    await setTimeout(random(600))
    await end(child)
    await later()
    assert.deepEqual(await everything(), before)
    if (kill % 10 === 9) await assertWhole()
  }
})

import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { createWriteStream } from "node:fs"
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { finished } from "node:stream/promises"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { importCabinet } from "../support/importCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"

const WORKER = program(new URL("importWorker.ts", import.meta.url))

const database = withDatabase()
let folder: string
let cabinet: ReturnType<typeof importCabinet>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "data-cabinet-import-"))
  cabinet = importCabinet(database.url)
})
afterAll(async () => {
  await cabinet.close()
  await rm(folder, { recursive: true })
})

const lines = async (name: string, count: number): Promise<string> => {
  const path = join(folder, name)
  const out = createWriteStream(path)
  out.write("n,name,note\n")
  for (let n = 0; n < count; n++) out.write(`${n},name ${n},${"x".repeat(n % 50)}\n`)
  out.end()
  await finished(out)
  return path
}

interface Told {
  readonly phase: string
  readonly done: number
}

const importing = (sourceId: number, path: string): ChildProcess =>
  fork(WORKER, [database.url, String(sourceId), path], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })

/** Kills the process with SIGKILL once it has made the given progress. */
const killedAt = async (child: ChildProcess, far: (told: Told) => boolean): Promise<Told> => {
  const ended = once(child, "exit")
  const told = await new Promise<Told>((resolve) => {
    child.on("message", (message: Told) => {
      if (far(message)) {
        child.kill("SIGKILL")
        resolve(message)
      } else child.send("go on")
    })
  })
  await ended
  return told
}

const numbers = async (sourceId: number): Promise<ReadonlyArray<number>> =>
  (await cabinet.feed(sourceId)).map((event) => Number(event.payload.n))

it("an import whose process was killed continues automatically, each row once and in order", async () => {
  const rows = 8000
  const source = await cabinet.source("killed")
  const path = await lines("killed.csv", rows)
  await killedAt(importing(source.id, path), ({ phase, done }) => phase === "accepting" && done > 0)
  // The lease of the killed process ends.
  await database.run(`UPDATE cabinet.clock SET shift = shift + '1 minute'`)
  const [left] = await database.run(
    `SELECT state, accepted::int AS accepted FROM cabinet.import WHERE source_id = ${source.id}`,
  )
  assert.strictEqual(left!["state"], "accepting")
  assert.isBelow(left!["accepted"] as number, rows)
  assert.strictEqual((await numbers(source.id)).length, left!["accepted"])
  const servers = [importCabinet(database.url, { loop: true }), importCabinet(database.url, { loop: true })]
  await Promise.all(servers.map((server) => server.feed(source.id)))
  await vi.waitFor(
    async () => {
      const [now] = await database.run(
        `SELECT state, EXISTS (SELECT FROM cabinet.staged_row) AS staged FROM cabinet.import WHERE source_id = ${source.id}`,
      )
      // After the last row has been accepted, staged rows are deleted in slices.
      assert.deepStrictEqual(now, { state: "done", staged: false })
    },
    { timeout: 120_000, interval: 100 },
  )
  assert.deepStrictEqual(
    await numbers(source.id),
    Array.from({ length: rows }, (_, n) => n),
  )
  // A row whose table could not get its columns in time is written a moment later.
  const table = () =>
    database.run("SELECT count(*)::int AS rows, count(DISTINCT n)::int AS different FROM sources.killed")
  await expect.poll(table).toEqual([{ rows, different: rows }])
  await Promise.all(servers.map((server) => server.close()))
})

it("an import killed while the file is read leaves nothing, and the file can be imported again", async () => {
  const source = await cabinet.source("unread")
  const path = await lines("unread.csv", 50_000)
  await killedAt(importing(source.id, path), ({ phase, done }) => phase === "staging" && done > 500_000)
  assert.deepStrictEqual(await numbers(source.id), [])
  const error = await cabinet.refused(source.id, path)
  assert.deepInclude(error, { code: "same_file" })
  await database.run(`UPDATE cabinet.clock SET shift = shift + '1 minute'`)
  const small = await lines("small.csv", 10)
  assert.strictEqual((await cabinet.file(source.id, small)).accepted, 10)
  const [lost] = await database.run(`SELECT state, failure FROM cabinet.import WHERE name = 'unread.csv'`)
  assert.strictEqual(lost!["state"], "failed")
  assert.strictEqual((await cabinet.file(source.id, path, { dryRun: true })).importedBefore, null)
})

it("an import waits while its source is switched off, and continues when it is restored", async () => {
  const source = await cabinet.source("switched")
  const path = await lines("switched.csv", 4000)
  await killedAt(importing(source.id, path), ({ phase, done }) => phase === "accepting" && done > 0)
  const archived = (at: string) => database.run(`UPDATE cabinet.source SET archived_at = ${at} WHERE id = ${source.id}`)
  await archived("now()")
  await database.run(`UPDATE cabinet.clock SET shift = shift + '1 minute'`)
  const server = importCabinet(database.url, { loop: true })
  await server.feed(source.id)
  const status = async () =>
    (await database.run(`SELECT state, failure FROM cabinet.import WHERE source_id = ${source.id}`))[0]!
  await vi.waitFor(async () => assert.strictEqual((await status())["failure"], "the source is switched off"), 60_000)
  await archived("NULL")
  await database.run(`UPDATE cabinet.clock SET shift = shift + '1 minute'`)
  await vi.waitFor(async () => assert.strictEqual((await status())["state"], "done"), 60_000)
  assert.strictEqual((await numbers(source.id)).length, 4000)
  await server.close()
})

it("an import first finishes what a killed import of its source left, and does not wait while the source is switched off", async () => {
  const source = await cabinet.source("left over")
  const path = await lines("left.csv", 4000)
  await killedAt(importing(source.id, path), ({ phase, done }) => phase === "accepting" && done > 0)
  const archived = (at: string) => database.run(`UPDATE cabinet.source SET archived_at = ${at} WHERE id = ${source.id}`)
  // Switched off once its file was staged, behind an import that no process accepts.
  const behind = await cabinet.file(source.id, await lines("behind.csv", 10), {}, ({ phase }) =>
    phase === "staging" ? Effect.promise(() => archived("now()")) : Effect.void,
  )
  assert.deepInclude(behind, { state: "accepting", rows: 10, accepted: 0, failure: "the source is switched off" })
  await archived("NULL")
  await database.run(`UPDATE cabinet.clock SET shift = shift + '1 minute'`)
  const next = await cabinet.file(source.id, await lines("next.csv", 20))
  assert.deepInclude(next, { state: "done", accepted: 20 })
  assert.strictEqual((await numbers(source.id)).length, 4030)
})

it("two processes that import the same file concurrently import it once", async () => {
  const source = await cabinet.source("both")
  const path = await lines("both.csv", 3000)
  const other = importCabinet(database.url)
  const outcomes = await Promise.allSettled([cabinet.file(source.id, path), other.file(source.id, path)])
  assert.deepStrictEqual(outcomes.map(({ status }) => status).sort(), ["fulfilled", "rejected"])
  assert.strictEqual((await numbers(source.id)).length, 3000)
  await other.close()
})

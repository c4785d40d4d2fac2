/** An import is cancelled by any process, whatever its holder does meanwhile: its count and its events always agree. */
import { fork } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { AcceptStaged } from "@data-cabinet/core/file/AcceptStaged"
import { Imports } from "@data-cabinet/core/file/Imports"
import { ImportStore } from "@data-cabinet/core/file/ImportStore"
import { undoWhole } from "@data-cabinet/core/file/ContinueUndo"
import { Effect, Option } from "effect"
import { Client } from "pg"
import { afterAll, assert, beforeAll, it, vi } from "vitest"
import { fileOf, importCabinet } from "../support/importCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"

const WORKER = program(new URL("importWorker.ts", import.meta.url))

const database = withDatabase()
let folder: string
let cabinet: ReturnType<typeof importCabinet>
let second: ReturnType<typeof importCabinet>
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "data-cabinet-cancel-"))
  cabinet = importCabinet(database.url)
  second = importCabinet(database.url)
})
afterAll(async () => {
  await second.close()
  await cabinet.close()
  await rm(folder, { recursive: true })
})

const cancel = (id: number, by = cabinet) => by.run(Imports.use((imports) => imports.cancel(id)))
const refusedCancel = (id: number) => cabinet.run(Effect.flip(Imports.use((imports) => imports.cancel(id))))
const statusOf = (id: number) => cabinet.run(Imports.use((imports) => imports.get(id)))
const idOf = async (sourceId: number) => {
  const [row] = await database.run(`SELECT id::int AS id FROM cabinet.import WHERE source_id = ${sourceId}`)
  return Number(row!["id"])
}
const stagedRows = async () =>
  Number((await database.run("SELECT count(*)::int AS n FROM cabinet.staged_row"))[0]!["n"])

/** Stages rows for a single slice, and holds the import in this process. */
const claimed = (sourceId: number) =>
  cabinet.run(
    Effect.gen(function* () {
      const imports = yield* ImportStore
      const began = yield* imports.begin({
        sourceId,
        channel: "file",
        history: true,
        name: "x.csv",
        sha256: null,
        bytes: 1,
        once: false,
        pollId: null,
      })
      if (!("held" in began)) return assert.fail("it was refused")
      const rows = Array.from({ length: 20 }, (_, n) => ({ n, empty: false, key: null, payload: `{"n":"${n}"}` }))
      yield* imports.stage(began.held, rows)
      yield* imports.seal(began.held, { staged: rows.length, refused: 0, doubts: [] })
      return Option.getOrThrow(yield* imports.claim(began.held.id))
    }),
  )

/** An import by another process, paused after its first accepted slice until `goOn` is called. */
const importing = async (sourceId: number, rows: number) => {
  const path = join(folder, `${sourceId}.csv`)
  await writeFile(path, `n,note\n${Array.from({ length: rows }, (_, n) => `${n},note ${n}`).join("\n")}\n`)
  const child = fork(WORKER, [database.url, String(sourceId), path], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  const seen: Array<{ readonly phase: string; readonly done: number }> = []
  const begun = Promise.withResolvers<void>()
  let isPaused = true
  // The process may have ended meanwhile.
  const answer = () => void child.send("go on", () => {})
  child.on("message", (message) => {
    const progress = message as (typeof seen)[number]
    seen.push(progress)
    if (isPaused && progress.phase === "accepting" && progress.done > 0) begun.resolve()
    else answer()
  })
  await begun.promise
  const goOn = () => {
    isPaused = false
    answer()
  }
  return { child, path, seen, goOn }
}

it.each(["acceptance", "cancellation"])(
  "a cancel concurrent with the last slice agrees with it if the %s comes first",
  async (first) => {
    const source = await cabinet.source(`last ${first}`)
    const held = await claimed(source.id)
    const accept = () => cabinet.run(Effect.exit(AcceptStaged.use((all) => all.run(held))))
    const stop = () => second.run(Effect.result(Imports.use((imports) => imports.cancel(held.id))))
    const lock = new Client({ connectionString: database.superuserUrl })
    await lock.connect()
    await lock.query("BEGIN")
    await lock.query(`SELECT FROM cabinet.import WHERE id = ${held.id} FOR UPDATE`)
    const waiting = (number: number) =>
      vi.waitFor(
        async () => {
          const waits = "datname = current_database() AND wait_event_type = 'Lock'"
          assert.isAtLeast((await database.run(`SELECT FROM pg_stat_activity WHERE ${waits}`)).length, number)
        },
        { timeout: 120_000, interval: 5 },
      )
    const begun = first === "acceptance" ? accept() : stop()
    await waiting(1)
    const [accepted, cancelled] = first === "acceptance" ? [begun, stop()] : [accept(), begun]
    await waiting(2)
    await lock.query("COMMIT")
    await lock.end()
    const [, outcome] = await Promise.all([accepted, cancelled as ReturnType<typeof stop>])
    const status = await statusOf(held.id)
    const events = (await cabinet.feed(source.id)).length
    const isCancelled = outcome._tag === "Success"
    // Never part of a slice, and never an import that is both cancelled and complete.
    assert.deepStrictEqual(
      [status.state, status.cancelledAt !== null, status.accepted, events],
      isCancelled ? ["failed", true, 0, 0] : ["done", false, 20, 20],
    )
    if (outcome._tag === "Failure") assert.deepInclude(outcome.failure, { code: "import_done" })
  },
)

it("an import of another process ends at its cancel, and can be undone and imported again", async () => {
  const source = await cabinet.source("elsewhere")
  const { child, path, seen, goOn } = await importing(source.id, 3_000)
  const ended = once(child, "exit")
  const id = await idOf(source.id)
  const status = await cancel(id)
  assert.deepInclude(status, { state: "failed", failure: "it was cancelled" })
  goOn()
  await ended
  // What it has sent may arrive after its end.
  await vi.waitFor(() => assert.deepStrictEqual(seen.at(-1)!.phase, "failed"), { timeout: 100_000 })
  assert.deepInclude(await statusOf(id), { accepted: status.accepted, state: "failed" })
  assert.isBelow(status.accepted, 3_000)
  const live = (await cabinet.feed(source.id)).filter((event) => event.deleted_at === null)
  assert.lengthOf(live, status.accepted)
  await cabinet.run(ImportStore.use((imports) => imports.sweep))
  assert.strictEqual(await stagedRows(), 0)
  const { undo } = await cabinet.run(undoWhole(id))
  assert.deepInclude(undo, { state: "undone", events: status.accepted, columns: ["n", "note"] })
  assert.deepInclude(await cabinet.file(source.id, path), { state: "done", accepted: 3_000 })
})

it("an import whose process was killed does not continue once it is cancelled", async () => {
  const source = await cabinet.source("killed, cancelled")
  const { child } = await importing(source.id, 3_000)
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
  const id = await idOf(source.id)
  const { accepted } = await cancel(id)
  // The lease of the killed process ends.
  await database.run("UPDATE cabinet.clock SET shift = shift + '1 minute'")
  const server = importCabinet(database.url, { loop: true })
  await server.feed(source.id)
  assert.isTrue(Option.isNone(await cabinet.run(ImportStore.use((imports) => imports.claim(id)))))
  await vi.waitFor(async () => assert.strictEqual(await stagedRows(), 0), { timeout: 100_000 })
  await server.close()
  assert.deepInclude(await statusOf(id), { state: "failed", accepted })
  assert.lengthOf(await cabinet.feed(source.id), accepted)
})

it("two cancels of one import record one moment, and a third changes nothing", async () => {
  const source = await cabinet.source("both cancel")
  const { id } = await claimed(source.id)
  const [mine, theirs] = await Promise.all([cancel(id), cancel(id, second)])
  assert.isNotNull(mine.cancelledAt)
  assert.deepStrictEqual(theirs, mine)
  await database.run("UPDATE cabinet.clock SET shift = shift + '1 minute'")
  assert.deepStrictEqual(await cancel(id), mine)
})

it("an import that is cancelled while its file is read accepts nothing, and its uploader is notified", async () => {
  const source = await cabinet.source("being read")
  let isCancelled = false
  const error = await second.refused(source.id, fileOf("x.csv", "a\n1\n2\n"), {}, ({ phase }) =>
    phase === "staging" && !isCancelled
      ? Effect.promise(async () => {
          isCancelled = true
          await cancel(await idOf(source.id))
        })
      : Effect.void,
  )
  assert.deepInclude(error, { code: "import_cancelled" })
  assert.deepInclude(await statusOf(await idOf(source.id)), { state: "failed", failure: "it was cancelled" })
  assert.lengthOf(await cabinet.feed(source.id), 0)
})

it("a failed import that is cancelled keeps its reason, and doctor no longer lists it", async () => {
  const source = await cabinet.source("failed by itself")
  const held = await claimed(source.id)
  await cabinet.run(ImportStore.use((imports) => imports.fail(held, "a fault")))
  const listed = async () => (await cabinet.examine()).failedImports.some(({ id }) => id === held.id)
  assert.isTrue(await listed())
  const status = await cancel(held.id)
  assert.deepInclude(status, { state: "failed", failure: "a fault" })
  assert.isNotNull(status.cancelledAt)
  assert.isFalse(await listed())
})

it("a cancel refuses a completed import and an unknown one", async () => {
  const source = await cabinet.source("not cancelled")
  const { importId } = await cabinet.file(source.id, fileOf("x.csv", "a\n1\n"))
  assert.deepInclude(await refusedCancel(importId!), { code: "import_done" })
  assert.deepInclude(await refusedCancel(999_999), { code: "no_such_import" })
})

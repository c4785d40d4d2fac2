/** An import is undone completely, whatever is killed or sent meanwhile. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { setTimeout as sleep } from "node:timers/promises"
import { EventLog, appendEvents } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { undoWhole } from "@data-cabinet/core/file/ContinueUndo"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it, vi } from "vitest"
import { fileOf, importCabinet } from "../support/importCabinet.ts"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"

const WORKER = program(new URL("undoWorker.ts", import.meta.url))

const database = withDatabase()
let cabinet: ReturnType<typeof importCabinet>
beforeAll(() => {
  cabinet = importCabinet(database.url)
})
afterAll(() => cabinet.close())

const ROWS = 8_000

const imported = async (sourceId: number) => {
  const text = `n,note\n${Array.from({ length: ROWS }, (_, n) => `${n},note ${n}`).join("\n")}\n`
  return (await cabinet.file(sourceId, fileOf("many.csv", text))).importId!
}

const undoing = (id: number): ChildProcess =>
  fork(WORKER, [database.url, String(id)], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })

const AT_WORK = `SELECT state FROM pg_stat_activity WHERE datname = current_database() AND backend_type = 'client backend'
  AND state <> 'idle' AND pid <> pg_backend_pid()`

/** Kills the process a moment after it has reported progress, whatever it is doing in its next step. */
const killed = async (child: ChildProcess, afterMillis: number): Promise<void> => {
  const ended = once(child, "exit")
  await once(child, "message")
  child.send("go on")
  await sleep(afterMillis)
  child.kill("SIGKILL")
  await ended
  // Its session notices a moment later.
  await expect.poll(() => database.run(AT_WORK)).toEqual([])
}

const stateOf = async (id: number) => {
  const [row] = await database.run(
    `SELECT u.state, position::int AS position, events::int AS events, columns::text AS columns,
       (SELECT count(*)::int FROM cabinet.event WHERE deleted_at IS NOT NULL AND source_id = m.source_id) AS deleted,
       (SELECT count(*)::int FROM cabinet.trashed_event t WHERE t.source_id = m.source_id) AS listed,
       (SELECT count(*)::int FROM sources.killed_undo) AS rows
     FROM cabinet.import_undo u JOIN cabinet.import m ON m.id = u.import_id WHERE u.import_id = ${id}`,
  )
  return row!
}

it("an undo whose process is killed again and again continues in a server, and counts each event once", async () => {
  const source = await cabinet.source("killed undo")
  const id = await imported(source.id)
  for (const millis of [0, 7, 23]) {
    await killed(undoing(id), millis)
    const { position, events, deleted, listed, rows } = await stateOf(id)
    // The count always equals the number of moved events.
    assert.deepStrictEqual([events, deleted, listed, rows], [position, position, position, ROWS - Number(position)])
  }
  assert.strictEqual((await stateOf(id))["state"], "undoing")
  const servers = [importCabinet(database.url, { loop: true }), importCabinet(database.url, { loop: true })]
  await Promise.all(servers.map((server) => server.feed(source.id)))
  await vi.waitFor(async () => assert.strictEqual((await stateOf(id))["state"], "undone"), { timeout: 120_000 })
  await Promise.all(servers.map((server) => server.close()))
  const ended = {
    state: "undone",
    position: ROWS,
    events: ROWS,
    columns: '["n","note"]',
    deleted: ROWS,
    listed: ROWS,
    rows: 0,
  }
  assert.deepStrictEqual(await stateOf(id), ended)
  const feed = await cabinet.feed(source.id)
  assert.deepStrictEqual([feed.length, feed.every((event) => event.deleted_at !== null)], [ROWS, true])
})

it("data sent during an undo is kept, even in columns that the undo drops", async () => {
  const source = await cabinet.source("sent meanwhile")
  const id = await imported(source.id)
  let isDone = false
  const sent: Array<string> = []
  const sending = async (process: typeof cabinet, name: string) => {
    // Sends the field of a dropped column at the end, because it must be empty before, and once more afterwards.
    for (let n = 0; !isDone || n % 10 !== 0; n++) {
      const [row] = await database.run(
        `SELECT s.version, coalesce(u.position, 0) >= ${ROWS} AS late FROM cabinet.source s
         LEFT JOIN cabinet.import_undo u ON u.import_id = ${id} WHERE s.id = ${source.id}`,
      )
      const value = `${name} ${n}`
      const field = row!["late"] === true ? "note" : "other"
      const events = [{ ...fingerprintedEvent(new Map([[field, value]])), fingerprint: null }]
      const request = { sourceId: source.id, channel: "webhook", history: false, original: null, events } as const
      const sourceVersion = Number(row!["version"])
      const receipts = await process.run(
        Effect.option(EventLog.use((log) => appendEvents(log, { ...request, sourceVersion }))),
      )
      if (receipts._tag === "Some") sent.push(value)
    }
  }
  const second = importCabinet(database.url)
  const senders = [sending(cabinet, "a"), sending(second, "b")]
  const { undo } = await cabinet.run(undoWhole(id))
  isDone = true
  await Promise.all(senders)
  assert.deepInclude(undo, { state: "undone", events: ROWS })
  await vi.waitFor(async () => assert.lengthOf(await database.run("SELECT FROM cabinet.deferred_row"), 0), {
    timeout: 120_000,
  })
  const columns = await database.run("SELECT name FROM cabinet.field_column WHERE name IN ('note', 'other')")
  const values = columns.map(({ name }) => String(name)).join(", ")
  const rows = await database.run(`SELECT coalesce(${values}) AS value FROM sources.sent_meanwhile`)
  const kept = new Set(rows.map(({ value }) => value))
  assert.deepStrictEqual(
    sent.filter((value) => !kept.has(value)),
    [],
  )
  assert.strictEqual(rows.length, sent.length)
  await second.close()
})

it("the feed is not held while an import is undone", async () => {
  const source = await cabinet.source("feed of undo")
  const id = await imported(source.id)
  await database.run("CREATE TABLE public.go ()")
  await database.run("GRANT SELECT ON public.go TO PUBLIC")
  await database.run(`
    CREATE FUNCTION public.until_go() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN WHILE NOT EXISTS (SELECT FROM public.go) LOOP PERFORM pg_sleep(0.01); END LOOP; RETURN NEW; END $$`)
  // A step does not end before the feed was read, however busy the machine is.
  await database.run(
    "CREATE TRIGGER until_go BEFORE UPDATE ON cabinet.import_undo FOR EACH ROW EXECUTE FUNCTION public.until_go()",
  )
  const whole = cabinet.run(undoWhole(id))
  const held = "SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event = 'PgSleep'"
  await expect.poll(() => database.run(held)).toHaveLength(1)
  const [row] = await database.run(`SELECT version FROM cabinet.source WHERE id = ${source.id}`)
  const events = [{ ...fingerprintedEvent(new Map([["other", "1"]])), fingerprint: null }]
  const request = { sourceId: source.id, sourceVersion: Number(row!["version"]), channel: "webhook" as const }
  await cabinet.run(EventLog.use((log) => appendEvents(log, { ...request, history: false, original: null, events })))
  const [state] = await database.run(`SELECT state FROM cabinet.import_undo WHERE import_id = ${id}`)
  const feed = await cabinet.feed(source.id)
  assert.strictEqual(feed.at(-1).payload.other, "1")
  assert.strictEqual(state!["state"], "undoing")
  await database.run("INSERT INTO public.go DEFAULT VALUES")
  await whole
})

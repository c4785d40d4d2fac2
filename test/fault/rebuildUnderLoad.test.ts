/**
 * A large table is rebuilt, with another type and order of columns, while events arrive at a steady rate: every event has its row,
 * once. It prints the longest that an accept took without a rebuild and for each of its steps, and the longest that one was seen to wait for the table itself.
 * `REBUILD_ROWS` is the size; `npm run trials` has two million.
 */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Sources } from "@data-cabinet/core/source/Sources"
import { Effect } from "effect"
import { setTimeout as sleep } from "node:timers/promises"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { keptSession } from "../support/postgresAdmin.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

const ROWS = Number(process.env["REBUILD_ROWS"] ?? 2_000)
const RATE = 200

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
beforeAll(() => {
  cabinet = testCabinet(database.url)
})
afterAll(() => cabinet.dispose())

const accept = async (source: number, n: number): Promise<void> => {
  const [row] = await database.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)
  const fields = { name: `n${n}`, total: String(n), note: "Ж" }
  const events = [{ ...fingerprintedEvent(new Map(Object.entries(fields))), fingerprint: null }]
  const request = { ...requestOf(source, "", false), events, sourceVersion: Number(row!["version"]) }
  const isStored = await cabinet.runPromise(
    EventLog.use((log) => appendEvents(log, request)).pipe(
      Effect.as(true),
      Effect.catchTag("SourceChanged", () => Effect.succeed(false)),
    ),
  )
  if (!isStored) await accept(source, n)
}

/** Events with their rows, as if they had been accepted. */
const fill = async (source: number): Promise<void> => {
  await accept(source, 0)
  await database.run(`
    WITH made AS (
      INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, channel, history, empty, payload)
      SELECT (SELECT max(epoch) FROM cabinet.event), pg_current_xact_id()::text::bigint, nextval('cabinet.event_id'), ${source}, cabinet.now(),
        'webhook', false, false, json_build_object('name', 'n' || n, 'total', n::text, 'note', 'Ж')
      FROM generate_series(1, ${ROWS - 1}) n RETURNING id, received_at, payload
    )
    INSERT INTO sources.large (_event_id, _received_at, name, total, note)
    SELECT id, received_at, payload->>'name', payload->>'total', payload->>'note' FROM made`)
  await database.run("VACUUM ANALYZE sources.large")
  await database.run("VACUUM ANALYZE cabinet.event")
}

const WAITS = `
SELECT coalesce(max(extract(epoch FROM clock_timestamp() - l.waitstart)), 0)::float8 * 1000 AS millis
FROM pg_locks l WHERE NOT l.granted AND l.locktype = 'relation' AND l.mode = 'RowExclusiveLock'
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`

/** The longest that a writer was seen to wait for a table, in milliseconds, until `isOver`. */
const longestWait = async (isOver: () => boolean): Promise<number> => {
  const session = keptSession(database.superuserUrl)
  let longest = 0
  while (!isOver()) {
    const [row] = await session.run(WAITS)
    longest = Math.max(longest, Number(row!["millis"]))
    await sleep(2)
  }
  await session.end()
  return longest
}

it("a rebuild under intake loses no row and writes none twice", async () => {
  const { id: source } = await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Large" })))
  await fill(source)
  let step = "no rebuild"
  let isDone = false
  let count = 0
  const longest = new Map<string, number>()
  const sending: Array<Promise<void>> = []
  const send = async (n: number) => {
    const began = performance.now()
    const at = step
    await accept(source, n)
    longest.set(at, Math.max(longest.get(at) ?? 0, performance.now() - began))
  }
  const timer = setInterval(() => {
    if (!isDone) sending.push(send(ROWS + count++))
  }, 1_000 / RATE)
  const columns = [{ column: "note" }, { column: "total", type: "numeric" as const }]
  const report = (progress: { readonly step: string }) => Effect.sync(() => void (step = progress.step))
  await sleep(ROWS / 50)
  step = "before"
  const waiting = longestWait(() => isDone)
  const began = performance.now()
  const wishes = { columns, withoutEmpty: false, nestBrackets: false }
  const done = await cabinet.runPromise(TableRebuild.use((all) => all.run(source, wishes, report)))
  isDone = true
  clearInterval(timer)
  const seconds = (performance.now() - began) / 1_000
  await Promise.all(sending)
  const waited = await waiting
  const worst = [...longest].map(([name, millis]) => `${name} ${millis.toFixed(0)} ms`).join(", ")
  process.stdout.write(
    `${ROWS} rows rebuilt in ${seconds.toFixed(1)} s, ${count} accepted meanwhile; the longest accept: ${worst}; ` +
      `the longest wait for the table: ${waited.toFixed(0)} ms\n`,
  )
  expect(done.columns).toEqual(["note", "total", "name"])
  await expect.poll(() => database.run("SELECT FROM cabinet.deferred_row"), { timeout: 100_000 }).toEqual([])
  const [rows] = await database.run(`
    SELECT count(*)::int AS rows, count(DISTINCT _event_id)::int AS events, count(*) FILTER (WHERE name <> 'n' || total)::int AS wrong,
      (SELECT count(*) FROM cabinet.event)::int AS accepted FROM sources.large`)
  expect(rows).toEqual({ rows: ROWS + count, events: ROWS + count, wrong: 0, accepted: ROWS + count })
}, 3_600_000)

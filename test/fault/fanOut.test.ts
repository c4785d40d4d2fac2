/**
 * Deliveries that are written behind the accept are each written once, although the processes that write them are killed
 * within their slices, and addresses come and go meanwhile.
 */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { Sources } from "@data-cabinet/core/source/Sources"
import { afterAll, afterEach, assert, beforeAll, it, vi } from "vitest"
import { withDatabase } from "../support/postgres.ts"
import { compileCache, program, PROGRAM_FLAGS } from "../support/program.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { requestOf } from "./acceptRequest.ts"

const WORKER = program(new URL("fanOutWorker.ts", import.meta.url))

const ADDRESSES = 130
const EVENTS = 20
const KILLS = 5

const database = withDatabase()
let cabinet: ReturnType<typeof testCabinet>
let source: number
beforeAll(async () => {
  cabinet = testCabinet(database.url)
  source = (await cabinet.runPromise(Sources.use((sources) => sources.create({ name: "Many" })))).id
})
afterAll(() => cabinet.dispose())

const children: Array<ChildProcess> = []
const kill = async (child: ChildProcess) => {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, "exit")
  child.kill("SIGKILL")
  await ended
}
afterEach(async () => {
  for (const child of children.splice(0)) await kill(child)
})
const worker = (): ChildProcess => {
  const child = fork(WORKER, [database.url], {
    execArgv: [...PROGRAM_FLAGS],
    env: { ...process.env, ...compileCache() },
  })
  children.push(child)
  return child
}

const add = async (count: number): Promise<ReadonlyArray<number>> => {
  const made = await database.run(
    `INSERT INTO cabinet.address (url, secret, every_source)
     SELECT 'https://example.com/' || n, 'whsec_', true FROM generate_series(1, ${count}) n RETURNING id::int`,
  )
  return made.map(({ id }) => id as number)
}
const accept = async (): Promise<number> => {
  const [{ version }] = (await database.run(`SELECT version FROM cabinet.source WHERE id = ${source}`)) as [
    { version: number },
  ]
  const request = { ...requestOf(source, "body", false), sourceVersion: version }
  const [receipt] = await cabinet.runPromise(EventLog.use((log) => appendEvents(log, request)))
  return receipt!.id
}
const later = () => database.run("UPDATE cabinet.clock SET shift = shift + interval '31 seconds'")
const pending = async () =>
  (await database.run("SELECT count(*)::int AS events FROM cabinet.fan_out"))[0]!["events"] as number

it("processes that are killed within their slices leave each delivery written once", async () => {
  const first = await add(ADDRESSES)
  const expected = new Set<string>()
  for (let n = 0; n < EVENTS; n++) {
    const event = await accept()
    for (const id of first) expected.add(`${event} ${id}`)
  }
  assert.strictEqual(await pending(), EVENTS)
  assert.deepStrictEqual(await database.run("SELECT count(*)::int AS n FROM cabinet.delivery"), [{ n: 0 }])
  const [removed, moved, ...kept] = first
  const added = await add(2)
  await database.run(`UPDATE cabinet.address SET every_source = false WHERE id = ${moved}`)
  let workers = [worker(), worker()]
  for (let n = 0; n < KILLS; n++) {
    let hasWritten = false
    for (const child of workers) child.once("message", () => (hasWritten = true))
    await vi.waitFor(async () => assert.isTrue(hasWritten || (await pending()) === 0), {
      timeout: 100_000,
      interval: 10,
    })
    for (const child of workers) await kill(child)
    await later()
    if (n === 1) await database.run(`UPDATE cabinet.address SET removed_at = cabinet.now() WHERE id = ${removed}`)
    if (n === 2) {
      const event = await accept()
      for (const id of [...kept, ...added]) expected.add(`${event} ${id}`)
    }
    workers = [worker(), worker()]
  }
  await vi.waitFor(async () => assert.strictEqual(await pending(), 0), { timeout: 120_000, interval: 200 })
  const rows = await database.run(
    `SELECT event_id || ' ' || address_id AS pair FROM cabinet.delivery WHERE address_id <> ${removed}`,
  )
  const wanted = [...expected].filter((pair) => !pair.endsWith(` ${removed}`))
  assert.lengthOf(rows, wanted.length)
  assert.sameMembers(
    rows.map(({ pair }) => String(pair)),
    wanted,
  )
})

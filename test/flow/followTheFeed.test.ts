/** The example that follows the feed, against a real server, is killed repeatedly while events arrive. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { fileURLToPath } from "node:url"
import { appendEvents, type AcceptRequest, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { JsonNumber } from "@data-cabinet/core/json/Json"
import { Effect } from "effect"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { type ApiCabinet, apiCabinet } from "../support/apiCabinet.ts"
import { testCabinet } from "../support/testCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const PROGRAM = fileURLToPath(new URL("../../examples/follow-the-feed/follow.mjs", import.meta.url))
const EVENTS = 20_000
const BATCH = 200
const KILLS = 8

const database = withDatabase()
let cabinet: ApiCabinet
let dir: string
beforeAll(async () => {
  cabinet = await apiCabinet(database.url)
  dir = mkdtempSync(join(tmpdir(), "dc-follow-"))
})
afterAll(async () => {
  await cabinet.close()
  rmSync(dir, { recursive: true, force: true })
})

/** Events with numbers that a double cannot hold, and a repeat in every hundred. */
const batch = (sourceId: number, from: number): AcceptRequest => ({
  sourceId,
  sourceVersion: 1,
  channel: "webhook",
  history: false,
  events: Array.from({ length: BATCH }, (_, n) => {
    const repeats = (from + n) % 100 === 99
    return fingerprintedEvent(new Map([["n", new JsonNumber(repeats ? "0.10" : `1234567890123456${from + n}`)]]))
  }),
  original: null,
})

it("follow.mjs, killed at any moment, ends with exactly the events and the rows of the cabinet", async () => {
  const source = await cabinet.source("Orders")
  const key = await cabinet.key()
  const store = testCabinet(database.url)
  const writing = store.runPromise(
    EventLog.use((log) =>
      Effect.forEach(
        Array.from({ length: EVENTS / BATCH }, (_, n) => n * BATCH),
        (from) => appendEvents(log, batch(source.id, from)),
        { concurrency: 2, discard: true },
      ),
    ),
  )
  const file = join(dir, "events.db")
  const follow = (...more: ReadonlyArray<string>): ChildProcess =>
    spawn(process.execPath, ["--no-warnings", PROGRAM, cabinet.base, file, "--limit", "100", ...more], {
      env: { ...process.env, CABINET_KEY: key },
      stdio: ["ignore", "pipe", "inherit"],
    })
  for (let kill = 0; kill < KILLS; kill++) {
    const child = follow()
    const exited = once(child, "exit")
    // It is killed some pages later, at any point of a page.
    let pages = 0
    await new Promise<void>((resolve) =>
      child.stdout!.on("data", (text: Buffer) => {
        pages += text.toString().split("\n").length - 1
        if (pages > 4 + kill) resolve()
      }),
    )
    child.kill("SIGKILL")
    await exited
  }
  await writing
  await store.dispose()
  const last = follow("--once")
  last.stdout!.resume()
  assert.deepStrictEqual(await once(last, "exit"), [0, null])

  const copy = new DatabaseSync(file, { readOnly: true })
  const copied = copy.prepare("SELECT id, payload, repeat_of FROM event ORDER BY id").all()
  copy.close()
  const events = await database.run(
    "SELECT id::int4 AS id, payload::text AS payload, repeat_of::int4 AS repeat_of FROM cabinet.event ORDER BY event.id",
  )
  assert.lengthOf(events, EVENTS)
  assert.deepStrictEqual(
    copied.map((row) => ({ ...row })),
    events.map((row) => ({ ...row })),
  )
  // A row whose table could not get its column in time is written a moment later.
  await expect.poll(() => database.run("SELECT FROM cabinet.deferred_row LIMIT 1")).toEqual([])
  const rows = await database.run(
    `SELECT _event_id::int4 AS id, n::text AS n FROM sources."${source.table!.name}" ORDER BY 1`,
  )
  assert.deepStrictEqual(
    copied
      .filter((row) => row["repeat_of"] === null)
      .map((row) => ({ id: row["id"], n: (row["payload"] as string).slice('{"n":'.length, -1) })),
    rows.map((row) => ({ id: row["id"], n: row["n"] })),
  )
})

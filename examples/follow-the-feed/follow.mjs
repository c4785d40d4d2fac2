/**
 * Keeps a copy of a cabinet's events in a local SQLite file, and may be killed at any moment: each page is written in one
 * transaction with the cursor after it, so it always continues where the copy ends.
 *
 *     CABINET_KEY=… node follow.mjs http://127.0.0.1:8080 events.db
 *
 * At the end of the feed a request waits for the next event, so that it is here at once and nobody asks in vain. `--once` exits
 * there instead; `--limit N` requests smaller pages. Needs Node 24,
 * which includes SQLite.
 */
import { DatabaseSync } from "node:sqlite"
import { setTimeout as sleep } from "node:timers/promises"
import { parseArgs } from "node:util"

const { values: options, positionals } = parseArgs({
  allowPositionals: true,
  options: { once: { type: "boolean", default: false }, limit: { type: "string", default: "1000" } },
})
const [base, file] = positionals
const key = process.env.CABINET_KEY
if (base === undefined || file === undefined || key === undefined) {
  console.error("usage: CABINET_KEY=… node follow.mjs <address of the cabinet> <file> [--once] [--limit N]")
  process.exit(2)
}

const copy = new DatabaseSync(file)
copy.exec(`
  PRAGMA journal_mode = WAL;
  CREATE TABLE IF NOT EXISTS event (
    id INTEGER PRIMARY KEY, source TEXT, channel TEXT, received_at TEXT, repeat_of INTEGER, history INTEGER, payload TEXT);
  CREATE TABLE IF NOT EXISTS place (one INTEGER PRIMARY KEY CHECK (one = 1), cursor TEXT NOT NULL);`)
const readPlace = copy.prepare("SELECT cursor FROM place")
const writePlace = copy.prepare("INSERT OR REPLACE INTO place VALUES (1, ?)")
// A database restored from a backup may reuse the id of a lost event: the newer one is right.
const writeEvent = copy.prepare("INSERT OR REPLACE INTO event VALUES (?, ?, ?, ?, ?, ?, ?)")

/** Numbers that a double would change keep their digits: `0.10`, `12345678901234567890`. */
const exact = (_key, value, { source }) =>
  typeof value === "number" && String(value) !== source ? JSON.rawJSON(source) : value

/** One page, retried until it is received: it waits for a rate limit or an unavailable server, not for a refusal. */
const page = async (cursor) => {
  const address = new URL("/api/v1/events", base)
  address.searchParams.set("limit", options.limit)
  if (cursor !== undefined) address.searchParams.set("cursor", cursor)
  for (;;) {
    const result = await fetch(address, {
      headers: { authorization: `Bearer ${key}`, ...(options.once ? {} : { prefer: "wait=25" }) },
      signal: AbortSignal.timeout(60_000),
    }).then(
      async (response) => ({ status: response.status, headers: response.headers, text: await response.text() }),
      () => undefined,
    )
    if (result?.status === 200) {
      return { ...JSON.parse(result.text, exact), waits: result.headers.has("preference-applied") }
    }
    if (result !== undefined && result.status !== 429 && result.status < 500) throw new Error(result.text)
    await sleep(1000 * Number(result?.headers.get("retry-after") ?? 2))
  }
}

for (;;) {
  const { data, has_more, next_cursor, waits } = await page(readPlace.get()?.cursor)
  copy.exec("BEGIN IMMEDIATE")
  for (const { id, source, channel, received_at, repeat_of, history, payload } of data) {
    writeEvent.run(id, source.name, channel, received_at, repeat_of, Number(history), JSON.stringify(payload))
  }
  writePlace.run(next_cursor)
  copy.exec("COMMIT")
  if (data.length > 0) console.log(`${data.length} events`)
  if (has_more) continue
  if (options.once) break
  // A server of a version that does not wait is asked again after a moment.
  if (!waits) await sleep(2000)
}

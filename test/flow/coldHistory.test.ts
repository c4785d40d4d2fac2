/** Old events move into files, and nobody who reads, changes or erases them notices but by the time that it takes. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ColdOverview } from "@data-cabinet/core/cold/ColdOverview"
import { ColdHistory } from "@data-cabinet/core/cold/ColdHistory"
import { ColdFiles } from "@data-cabinet/core/cold/ColdFiles"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { EventDetail } from "@data-cabinet/core/event/EventDetail"
import { Erasure } from "@data-cabinet/core/event/Erasure"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { LiveGauges } from "@data-cabinet/core/runtime/LiveGauges"
import { ColdActs } from "@data-cabinet/store-pg/cold/ColdActs"
import { watchCold } from "@data-cabinet/store-pg/cold/ColdWatch"
import { coldFacts } from "@data-cabinet/store-pg/diagnostics/ColdFacts"
import { Effect, Metric, Option } from "effect"
import { afterAll, assert, beforeAll, it } from "vitest"
import { coldCabinet, OLD_EVENTS } from "../support/coldCabinet.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase()
const root = mkdtempSync(join(tmpdir(), "cold-"))
let old: Awaited<ReturnType<typeof coldCabinet>>

beforeAll(async () => {
  old = await coldCabinet(database.url, { coldStore: root })
})
afterAll(async () => {
  await old.cabinet.dispose()
  rmSync(root, { recursive: true })
})

const details = async () => {
  const all = []
  for (let id = 1; id <= OLD_EVENTS + 1; id++) {
    all.push(await old.cabinet.runPromise(EventDetail.use((detail) => Effect.map(detail.find(id), Option.getOrNull))))
  }
  return all
}

const listed = async (query: Parameters<EventBrowser["Service"]["page"]>[0]) => {
  const items: Array<unknown> = []
  let cursor: string | undefined
  for (let count = 0; count < 200; count++) {
    const page = await old.cabinet.runPromise(EventBrowser.use((browser) => browser.page({ ...query, cursor })))
    items.push(...page.items)
    if (page.nextCursor === null) return items
    cursor = page.nextCursor
  }
  return assert.fail("The list does not end")
}

const LISTS = [
  { limit: 7 },
  { limit: 100, sourceId: 1 },
  { limit: 9, channel: "file", state: "row" },
  { limit: 100, state: "spam" },
  { limit: 4, from: "2020-01-01T12:00:00Z", to: "2020-01-02T12:00:00Z" },
  { limit: 5, event: 12 },
] as const

const everything = async () => ({
  feeds: [
    await old.walk(1000),
    await old.walk(7),
    await old.walk(1),
    await old.walk(4, [["source_id", "2"]]),
    await old.walk(5, [["channel", "pull"]]),
    await old.walk(3, [
      ["source_id", "1"],
      ["channel", "file"],
    ]),
  ],
  details: await details(),
  lists: await Promise.all(LISTS.map(listed)),
})

let before: Awaited<ReturnType<typeof everything>>

it("events that a follower still needs stay", async () => {
  before = await everything()
  assert.strictEqual(before.feeds[0]![0]!.texts.length, OLD_EVENTS)
  await old.move()
  assert.deepEqual(readdirSync(root), [])
})

it("every page, event and list is the same to the last byte once events are in files, and once their rows are gone", async () => {
  await old.followersReach(3)
  await old.move()
  assert.strictEqual(readdirSync(root).length, 3)
  assert.deepEqual(await everything(), before)
  await old.settle()
  await old.move()
  assert.strictEqual(await old.rows(), 1)
  assert.deepEqual(await everything(), before)
})

it("a cursor from anywhere in old history continues with the next event", async () => {
  const all = before.feeds[0]![0]!
  for (const [index, cursor] of all.cursors.entries()) {
    const [page] = await old.walk(1000, [], cursor)
    assert.deepEqual(page!.texts, all.texts.slice(index + 1))
  }
})

it("a search for text refuses old history, and names the files and DuckDB", async () => {
  const error = await old.cabinet.runPromise(
    Effect.flip(EventBrowser.use((browser) => browser.page({ limit: 10, text: "Ännä 3" }))),
  )
  assert.strictEqual(error._tag === "EventListError" && error.code, "bad_period")
  assert.include(error.message, root)
  assert.include(error.message, "DuckDB")
})

it("an archived event goes to the trash and returns, and its file is written again", async () => {
  await old.cabinet.runPromise(Trash.use((trash) => trash.trash(1, [2, 4])))
  const texts = (await old.walk(1000))[0]!.texts
  assert.strictEqual(texts.filter((text) => /^\{"id":[24],.*"deleted_at":"2/.test(text)).length, 2)
  const names = readdirSync(root)
  await old.move(true)
  await old.settle()
  await old.move(true)
  assert.deepEqual((await old.walk(1000))[0]!.texts, texts)
  assert.notDeepEqual(readdirSync(root), names)
  await old.cabinet.runPromise(Trash.use((trash) => trash.untrash(1, [2, 4])))
  assert.deepEqual((await old.walk(1000))[0]!.texts, before.feeds[0]![0]!.texts)
})

const contents = async () => {
  const rows = await old.sql("SELECT name FROM cabinet.cold_file WHERE name IS NOT NULL")
  const texts: Array<string> = []
  for (const { name } of rows) {
    const file = await old.cabinet.runPromise(ColdFiles.use((files) => files.open(String(name))))
    for (const index of file.groups.keys()) {
      texts.push(...(await old.cabinet.runPromise(file.read(index))).map(({ payload }) => payload))
    }
  }
  return texts.join("\n")
}

it("an erased person is in no answer at once, and in no file after the next look", async () => {
  assert.include(await contents(), "p3@example.org")
  const query = { filters: [{ fc: "who", fo: "eq" as const, fv: "p3@example.org" }], sourceId: null, after: 0 }
  const found = await old.cabinet.runPromise(Erasure.use((erasure) => erasure.find(query)))
  const erased = await old.cabinet.runPromise(Erasure.use((erasure) => erasure.erase(query)))
  assert.deepEqual(erased, found)
  assert.strictEqual(found.events + found.repeats, 10)
  const texts = (await old.walk(1000))[0]!.texts
  assert.notInclude(texts.join("\n"), "p3@example.org")
  assert.strictEqual(texts.length, OLD_EVENTS)
  await old.move(true)
  await old.settle()
  await old.sql("UPDATE cabinet.cold_leftover SET remove_at = 'epoch'")
  await old.sql("DELETE FROM cabinet.cold_hold")
  await old.move(true)
  assert.notInclude(await contents(), "p3@example.org")
  const names = await old.sql("SELECT name FROM cabinet.cold_file WHERE name IS NOT NULL ORDER BY name")
  assert.deepEqual(
    readdirSync(root).toSorted(),
    names.map(({ name }) => String(name)),
  )
  assert.deepEqual((await old.walk(1000))[0]!.texts, texts)
})

it("a listed file that was replaced and removed is found again in its later version", async () => {
  const texts = (await old.walk(1000))[0]!.texts
  // As after the restore of a dump.
  await old.sql("UPDATE cabinet.cold_file SET name = name || '.old'")
  await old.sql("UPDATE cabinet.cold_state SET version = version + 1")
  const error = await old.cabinet.runPromise(Effect.flip(Feed.use((feed) => feed.page([]))))
  assert.include(error.message, "is missing")
  await old.move()
  assert.deepEqual((await old.walk(1000))[0]!.texts, texts)
})

/** The rest of the diagnostics also writes, which takes seconds while a disk is busy. */
const examined = async () => (await old.cabinet.runPromise(Effect.flatten(coldFacts)))!

it("the diagnostics find files that are missing or damaged, events that are late, and an erasure that waits", async () => {
  assert.deepInclude(await examined(), { files: 3, missing: [], damaged: [], unreachable: null, lateSince: null })
  const last = readdirSync(root).toSorted().at(-1)!
  const path = join(root, last)
  const bytes = readFileSync(path)
  // A process that has read its end before would not notice.
  await old.cabinet.runPromise(ColdFiles.use((files) => files.remove(last)))
  writeFileSync(path, bytes.subarray(1))
  assert.lengthOf((await examined()).damaged, 1)
  await old.cabinet.runPromise(ColdFiles.use((files) => files.remove(last)))
  assert.deepEqual((await examined()).missing, [last])
  writeFileSync(path, bytes)
  assert.deepInclude(await examined(), { missing: [], damaged: [] })
  const [one] = await old.sql("SELECT first_id AS id, listed_at::text AS at FROM cabinet.cold_file ORDER BY id LIMIT 1")
  await old.cabinet.runPromise(ColdActs.use((acts) => acts.need([Number(one!["id"])])))
  await old.sql(`UPDATE cabinet.event SET purged_at = '2026-01-02' WHERE id = ${String(one!["id"])}`)
  await old.sql("UPDATE cabinet.cold_file SET listed_at = '2026-01-01', emptied_at = '2026-01-01'")
  assert.strictEqual((await examined()).erasureSince, "2026-01-02T00:00:00Z")
  await old.sql(`UPDATE cabinet.event SET purged_at = NULL WHERE id = ${String(one!["id"])}`)
  assert.isNull((await examined()).erasureSince)
  await old.sql(`UPDATE cabinet.event SET received_at = '2024-01-01' WHERE id = ${OLD_EVENTS}`)
  assert.strictEqual((await examined()).lateSince, "2024-01-01T00:00:00Z")
  await old.sql(`UPDATE cabinet.event SET received_at = cabinet.now() WHERE id = ${OLD_EVENTS}`)
  assert.isNull((await examined()).lateSince)
})

it("watchCold shows in the metrics what is in files, and for how long no round has ended", async () => {
  await old.sql("UPDATE cabinet.cold_state SET worked_at = cabinet.now() - interval '1 minute', failures = 2")
  await old.cabinet.runPromise(watchCold(new LiveGauges()))
  const metrics = await old.cabinet.runPromise(Metric.snapshot)
  const valueOf = (name: string) => {
    const own = metrics.find(({ id, attributes }) => id === name && attributes?.["database"] === database.name)
    return Number((own?.state as { readonly value?: number } | undefined)?.value)
  }
  const { files, events, bytes } = await examined()
  assert.deepEqual(
    [valueOf("cold_files"), valueOf("cold_events"), valueOf("cold_bytes"), valueOf("cold_failures")],
    [files, events, bytes, 2],
  )
  assert.isAtLeast(valueOf("cold_round_age_seconds"), 60)
  await old.sql("UPDATE cabinet.cold_state SET failures = 0")
})

it("all files are as written, and events that are brought back for good are the same", async () => {
  const texts = (await old.walk(1000))[0]!.texts
  const { files, events } = await old.cabinet.runPromise(ColdOverview.use((cold) => cold.status))
  assert.deepEqual([files.length, events], [3, OLD_EVENTS - 1])
  const checked = await old.cabinet.runPromise(ColdHistory.use((cold) => cold.verify))
  assert.deepEqual(
    checked.map(({ problem }) => problem),
    [null, null, null],
  )
  const thaw = (range: string) => old.cabinet.runPromise(ColdHistory.use((cold) => cold.thaw(range)))
  assert.deepEqual(await thaw("2020-01-02..2020-01-02"), { files: 2, events: 48 })
  assert.deepEqual(
    (await old.walk(7)).flatMap((page) => page.texts),
    texts,
  )
  await old.move(true)
  assert.deepEqual(
    (await old.walk(7)).flatMap((page) => page.texts),
    texts,
  )
  assert.deepEqual(await thaw("all"), { files: 1, events: 11 })
  assert.strictEqual(await old.rows(), OLD_EVENTS)
  assert.deepEqual((await old.walk(1000))[0]!.texts, texts)
  const error = await old.cabinet.runPromise(Effect.flip(ColdHistory.use((cold) => cold.thaw("yesterday"))))
  assert.include(error.message, "is not a range")
})

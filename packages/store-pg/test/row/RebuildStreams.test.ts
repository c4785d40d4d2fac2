/** A rebuilt table is the incremental one, cell for cell, and readers and senders notice nothing of the swap. */
import { appendEvents, EventLog } from "@data-cabinet/core/event/EventLog"
import { fingerprintedEvent } from "@data-cabinet/core/event/Fingerprint"
import { Trash } from "@data-cabinet/core/event/Trash"
import type { Reread } from "@data-cabinet/core/intake/RereadOriginal"
import { RereadStore } from "@data-cabinet/core/intake/RereadStore"
import { type Json, JsonNumber } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Sources } from "@data-cabinet/core/source/Sources"
import { drainDeferredRows } from "@data-cabinet/store-pg/row/DeferredRows"
import { Effect, Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Random, randomFrom } from "./random.ts"
import { openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
})
afterAll(() => reading.close())

const newSource = async (name: string) =>
  (await reading.runtime.runPromise(Sources.use((all) => all.create({ name })))).id

const versionOf = async (sourceId: number) =>
  Number((await reading.database.run(`SELECT version FROM cabinet.source WHERE id = ${sourceId}`))[0]!["version"])

/** Appends again, as intake does, what was refused because its source had changed. */
const append = async (
  sourceId: number,
  payloads: ReadonlyArray<ReadonlyMap<string, Json>>,
): Promise<ReadonlyArray<number>> => {
  const sourceVersion = await versionOf(sourceId)
  const events = payloads.map((fields) => ({ ...fingerprintedEvent(new Map(fields)), fingerprint: null }))
  const request = { sourceId, sourceVersion, channel: "webhook", history: false, events, original: null } as const
  const receipts = await reading.runtime.runPromise(
    EventLog.use((log) => Effect.catchTag(appendEvents(log, request), "SourceChanged", () => Effect.succeed(null))),
  )
  return receipts === null ? append(sourceId, payloads) : receipts.map(({ id }) => id)
}

const rebuild = (sourceId: number) =>
  reading.runtime.runPromise(
    TableRebuild.use((all) => all.run(sourceId, { columns: [], withoutEmpty: false, nestBrackets: false })),
  )

const cellsOf = (table: string) =>
  reading.database.run(
    `SELECT t::text AS cells, row_to_json(t)::text AS row FROM sources.${table} t ORDER BY _event_id`,
  )

const columnsOf = (sourceId: number) => reading.runtime.runPromise(SourceColumns.use((all) => all.list(sourceId)))

const FIELDS = [
  "a",
  "A",
  "a b",
  "a_b",
  "Имя",
  "select",
  "ctid",
  "_more",
  "x".repeat(80),
  'q"uote',
  "leads[0][name]",
  "1st",
]

const valueOf = (random: Random, depth = 0): Json => {
  const kind = random.below(depth > 1 ? 6 : 8)
  if (kind === 0) return null
  if (kind === 1) return random.chance(0.5)
  if (kind === 2)
    return new JsonNumber(random.pick(["0", "-1.50", "1e300", "12345678901234567890.0001", "1e-7", "1E+2"]))
  if (kind <= 5)
    return random.pick(["", "text", "007", "12.50", "2026-02-30", "Ж\u2028😀", '{"a":1}', "true", "null", "\\"])
  if (kind === 6) return Array.from({ length: random.below(3) }, () => valueOf(random, depth + 1))
  return new Map(
    Array.from({ length: random.below(3) }, () => [random.pick(FIELDS), valueOf(random, depth + 1)] as const),
  )
}

it.each([1, 2, 3, 4])(
  "run makes the table that a stream of events has made, cell for cell (stream %i)",
  async (seed) => {
    const random = randomFrom(seed)
    const source = await newSource(`Stream ${seed}`)
    const ids: Array<number> = []
    for (let n = 0; n < 6; n++) {
      const payloads = Array.from({ length: 1 + random.below(6) }, () => {
        return new Map(Array.from({ length: random.below(6) }, () => [random.pick(FIELDS), valueOf(random)] as const))
      })
      ids.push(...(await append(source, payloads)))
    }
    const gone = ids.filter(() => random.chance(0.2))
    if (gone.length > 0) await reading.runtime.runPromise(Trash.use((all) => all.trash(source, gone)))
    const before = [await cellsOf(`stream_${seed}`), await columnsOf(source)]
    await rebuild(source)
    expect([await cellsOf(`stream_${seed}`), await columnsOf(source)]).toEqual(before)
    await reading.runtime.runPromise(Trash.use((all) => all.untrash(source, gone)))
    await expect.poll(async () => (await cellsOf(`stream_${seed}`)).length).toBe(ids.length)
  },
)

it("run loses no row and writes none twice while events come in, and a reader's cursor goes on", async () => {
  const source = await newSource("Live")
  await append(
    source,
    Array.from({ length: 30 }, (_, n) => new Map([["n", new JsonNumber(String(n))]])),
  )
  const page = async (cursor?: string) => {
    const params = [
      ["sort", "n"],
      ["limit", "10"],
      ...(cursor === undefined ? [] : [["cursor", cursor] as const]),
    ] as const
    return Result.getOrThrow(await reading.page("live", params, "sources"))
  }
  const first = await page()
  let isDone = false
  const accepted: Array<number> = []
  const sending = async (lane: number) => {
    for (let n = 0; !isDone; n++) {
      const fields = new Map<string, Json>([
        ["n", new JsonNumber(String(1000 + n))],
        [`new${(lane + n) % 5}`, "x"],
      ])
      accepted.push(...(await append(source, [fields])))
    }
  }
  const senders = [sending(0), sending(1)]
  for (let n = 0; n < 3; n++) await rebuild(source)
  isDone = true
  await Promise.all(senders)
  // A new column may have been kept waiting by the lock: its row follows.
  await expect.poll(() => reading.database.run("SELECT FROM cabinet.deferred_row"), { timeout: 100_000 }).toEqual([])
  const rows = await reading.database.run("SELECT _event_id::float8 AS id FROM sources.live WHERE n >= 1000 ORDER BY 1")
  expect(rows.map(({ id }) => id)).toEqual(accepted.toSorted((a, b) => a - b))
  const second = await page(first.nextCursor!)
  expect(second.items.map((item) => (JSON.parse(item) as { n: number }).n)).toEqual([
    10, 11, 12, 13, 14, 15, 16, 17, 18, 19,
  ])
})

it("run is refused for a table of another role, and then nothing is written", async () => {
  const source = await newSource("Theirs")
  await append(source, [new Map([["n", "1"]])])
  await reading.database.run("ALTER TABLE sources.theirs OWNER TO postgres")
  const refused = await reading.runtime.runPromise(
    Effect.flip(TableRebuild.use((all) => all.run(source, { columns: [], withoutEmpty: false, nestBrackets: false }))),
  )
  expect(refused).toMatchObject({ code: "no_right", message: expect.stringContaining("belongs to postgres") })
  expect(await reading.database.run("SELECT FROM pg_class WHERE relname LIKE 'rebuild\\_%'")).toEqual([])
})

const PLAIN = { columns: [], withoutEmpty: false, nestBrackets: false }

/** Reads an event again as these fields, as a rereading does. */
const reread = (id: number, fields: ReadonlyMap<string, Json>) => {
  const read: Reread = {
    payload: fields,
    text: jsonText(fields),
    charset: "windows-1251",
    charsetFrom: "reread",
    replaced: 0,
    others: [],
    changed: [],
  }
  return reading.runtime.runPromise(RereadStore.use((store) => store.change([id], () => read, false)))
}

it("run has the cells of events that are read again meanwhile, and leaves out rows that are set aside", async () => {
  const source = await newSource("Reread")
  const [first, second, third] = await append(
    source,
    ["ÀÁ", "ÂÃ", "ÄÅ"].map((name) => new Map([["name", name]])),
  )
  await reading.database.run("CREATE UNIQUE INDEX one_name ON sources.reread (name)")
  await reread(first!, new Map([["name", "АБ"]]))
  const [aside] = await append(source, [new Map([["name", "ÂÃ"]])])
  const drained = async () => {
    await reading.runtime.runPromise(drainDeferredRows)
    return (await reading.database.run("SELECT event_id::float8 AS id FROM cabinet.row_set_aside")).map(({ id }) => id)
  }
  await expect.poll(drained, { timeout: 100_000 }).toEqual([aside])
  let isReread = false
  const meanwhile = ({ step }: { readonly step: string }) =>
    Effect.promise(async () => {
      if (isReread || step !== "changes") return
      isReread = true
      await reread(third!, new Map([["имя", "ДЕ"]]))
    })
  await reading.runtime.runPromise(TableRebuild.use((all) => all.run(source, PLAIN, meanwhile)))
  const rows = () =>
    reading.database.run(
      "SELECT _event_id::float8 AS id, name, to_jsonb(t)->>'imya' AS other FROM sources.reread t ORDER BY 1",
    )
  const kept = [
    { id: first, name: "АБ", other: null },
    { id: second, name: "ÂÃ", other: null },
    { id: third, name: null, other: "ДЕ" },
  ]
  expect(await rows()).toEqual(kept)
  expect(await drained()).toEqual([aside])
  await reading.database.run("DROP INDEX sources.one_name")
  await reading.database.run("UPDATE cabinet.clock SET shift = shift + interval '2 hours'")
  await expect.poll(drained, { timeout: 100_000 }).toEqual([])
  expect(await rows()).toEqual([...kept, { id: aside, name: "ÂÃ", other: null }])
})

it("run builds the search index of the table again, for all of its new columns", async () => {
  const source = await newSource("Searched")
  await append(source, [new Map([["a", "needle"]]), new Map([["b", "hay"]])])
  const index = <A, E>(work: (port: SearchIndex["Service"]) => Effect.Effect<A, E>) =>
    reading.runtime.runPromise(SearchIndex.use(work))
  await index((port) => port.build("sources", "searched"))
  const columns = [{ column: "b", name: "title" }]
  const done = await reading.runtime.runPromise(TableRebuild.use((all) => all.run(source, { ...PLAIN, columns })))
  expect(done).toMatchObject({ columns: ["title", "a"], indexesMissing: [] })
  expect(await index((port) => port.list("sources", "searched"))).toMatchObject([{ valid: true, complete: true }])
  const found = Result.getOrThrow(await reading.page("searched", [["q", "HAY"]], "sources"))
  expect(found.items.map((item) => (JSON.parse(item) as { title: string }).title)).toEqual(["hay"])
})

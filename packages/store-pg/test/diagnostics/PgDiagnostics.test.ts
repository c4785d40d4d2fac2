import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { Sources } from "@data-cabinet/core/source/Sources"
import { outOfLineTables } from "@data-cabinet/store-pg/diagnostics/OutOfLineValues"
import { whatIsMissing } from "@data-cabinet/store-pg/diagnostics/PgReadiness"
import { PgClient } from "@effect/sql-pg"
import { Effect, Redacted } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { testCabinet } from "../../../../test/support/testCabinet.ts"

const database = withDatabase()
let runtime: ReturnType<typeof testCabinet>

beforeAll(() => {
  runtime = testCabinet(database.url)
})
afterAll(() => runtime.dispose())

const examine = () => runtime.runPromise(Diagnostics.use((diagnostics) => diagnostics.examine))

it("examine reports the server, the sizes, the clock and the partitions of a healthy cabinet", async () => {
  const report = await examine()
  expect(report).toMatchObject({ database: database.name, user: "cabinet", isStandby: false, deferredRows: 0 })
  expect(report.fenceHolders).toEqual([])
  expect(report.databaseBytes).toBeGreaterThan(report.cabinetBytes)
  expect(report.sizes.events).toBeGreaterThan(0)
  expect(Object.values(report.sizes).reduce((sum, bytes) => sum + bytes)).toBe(report.cabinetBytes)
  // One machine and one clock; the duration of the query does not matter.
  expect(Math.abs(report.clockSkewMillis)).toBeLessThan(60_000)
  expect(report.partitions.map(({ table }) => table)).toEqual(
    expect.arrayContaining(["attempt_delivered", "attempt_failed", "original_request"]),
  )
  expect(report.partitions.every(({ daysAhead }) => daysAhead >= 13)).toBe(true)
})

it("examine reports sizes on disk, counting partitions as part of their table", async () => {
  const before = (await examine()).sizes
  await database.run("CREATE TABLE sources.orders AS SELECT repeat('x', 1000) AS a FROM generate_series(1, 100)")
  await database.run(
    `INSERT INTO cabinet.attempt (delivery_id, number, address_id, at, delivered, duration_ms, response_body)
     SELECT n, 1, 1, cabinet.now(), n % 2 = 0, 1, repeat('x', 1000) FROM generate_series(1, 100) n`,
  )
  const { sizes } = await examine()
  expect(sizes.rows - before.rows).toBeGreaterThan(100_000)
  expect(sizes.attempts - before.attempts).toBeGreaterThan(100_000)
  expect(sizes.events).toBe(before.events)
})

it("examine names the polls whose last runs failed, and no others", async () => {
  const poll = (failures: number, more = "NULL, NULL") =>
    `INSERT INTO cabinet.poll (source_id, url, every_seconds, failures, paused_at, removed_at)
     VALUES (4, 'http://127.0.0.1:9', 60, ${failures}, ${more}) RETURNING id::int AS id`
  for (const other of [poll(0), poll(2, "cabinet.now(), NULL"), poll(2, "NULL, cabinet.now()")])
    await database.run(other)
  const [failing] = await database.run(poll(3))
  expect((await examine()).failingPolls).toEqual([{ id: failing!["id"], sourceId: 4, failures: 3 }])
})

it("examine names a source that drops the headers of its well-known sender", async () => {
  const { sources } = await runtime.runPromise(
    Sources.use((all) =>
      Effect.map(
        Effect.all({
          plain: all.create({ name: "Plain" }),
          kept: all.create({ name: "Kept", from: "github" }),
        }),
        (made) => ({ sources: made }),
      ),
    ),
  )
  for (const { id } of [sources.plain, sources.kept]) {
    await database.run(
      `WITH o AS (INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, user_agent, charset, charset_from, replaced)
         VALUES (${id}, cabinet.now(), ${id}, '', 0, 'GitHub-Hookshot/044aadd', 'utf-8', 'json', 0) RETURNING *)
       INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, original_request_id, channel, history, empty, payload)
         SELECT 1, 1, ${id}, ${id}, o.received_at, o.id, 'webhook', false, false, '{}' FROM o`,
    )
  }
  expect((await examine()).droppedHeaders).toEqual([{ sourceId: sources.plain.id, name: "Plain", provider: "github" }])
})

it("examine names sources whose latest events have unreadable characters, until newer events replace them", async () => {
  const [forms, files] = await runtime.runPromise(
    Sources.use((all) => Effect.all([all.create({ name: "Forms" }), all.create({ name: "Files" })])),
  )
  let id = 1_000
  const event = (sourceId: number, channel: string, payload: string) =>
    database.run(
      `WITH o AS (INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, charset, charset_from, replaced)
         VALUES (${++id}, cabinet.now(), ${sourceId}, '', 0, 'utf-8', 'data', 1) RETURNING *)
       INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, original_request_id, channel, history, empty, payload)
         SELECT 1, 1, ${id}, ${sourceId}, o.received_at, CASE WHEN '${channel}' = 'webhook' THEN o.id END, '${channel}', false, false,
           '${payload}' FROM o`,
    )
  await event(forms.id, "webhook", '{"name":"\uFFFD"}')
  await event(forms.id, "webhook", '{"name":"Anna"}')
  await event(files.id, "file", '{"name":"a\uFFFD"}')
  await event(files.id, "file", `{"name":"\uFFFD${"x".repeat(20_000)}"}`)
  expect((await examine()).unreadable).toEqual([
    { sourceId: forms.id, name: "Forms", unclear: false, events: 1, eventId: 1_001, rereadable: true },
    { sourceId: files.id, name: "Files", unclear: false, events: 1, eventId: 1_003, rereadable: false },
  ])
  for (let n = 0; n < 9; n++) await event(forms.id, "webhook", '{"name":"Bob"}')
  expect((await examine()).unreadable.map(({ sourceId }) => sourceId)).toEqual([files.id])
})

it("examine names sources whose latest events were read in a guessed charset, until they are read again", async () => {
  const [forms, queries, clear] = await runtime.runPromise(
    Sources.use((all) =>
      Effect.all([all.create({ name: "Guessed" }), all.create({ name: "Queries" }), all.create({ name: "Clear" })]),
    ),
  )
  let id = 2_000
  const event = (sourceId: number, from: string, others: string | null = null, payload = '{"a":"b"}') =>
    database.run(
      `WITH o AS (INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, charset, charset_from, replaced, other_readings)
         VALUES (${++id}, cabinet.now(), ${sourceId}, '', 0, 'windows-1251', '${from}', 0, ${others === null ? "NULL" : `'${others}'`}) RETURNING *)
       INSERT INTO cabinet.event (epoch, xid, id, source_id, received_at, original_request_id, channel, history, empty, payload)
         SELECT 1, 1, ${id}, ${sourceId}, o.received_at, o.id, 'webhook', false, false, '${payload}' FROM o`,
    )
  await event(forms.id, "unclear")
  await event(forms.id, "unclear", null, '{"a":"\uFFFD"}')
  await event(forms.id, "unclear", null, `{"a":"${"x".repeat(20_000)}"}`)
  await event(
    queries.id,
    "header",
    '[{"name":"windows-1251","decided_by":"unclear","place":"query","fields":["a"],"more":0}]',
  )
  await event(clear.id, "data", '[{"name":"utf-8","decided_by":"data","place":"query","fields":["a"],"more":0}]')
  const found = async () => (await examine()).unreadable.filter(({ sourceId }) => sourceId >= forms.id)
  expect(await found()).toEqual([
    { sourceId: forms.id, name: "Guessed", unclear: false, events: 1, eventId: 2_002, rereadable: true },
    { sourceId: forms.id, name: "Guessed", unclear: true, events: 2, eventId: 2_003, rereadable: true },
    { sourceId: queries.id, name: "Queries", unclear: true, events: 1, eventId: 2_004, rereadable: true },
  ])
  await database.run(
    "UPDATE cabinet.original_request SET charset_from = 'reread', other_readings = NULL WHERE id IN (2001, 2003, 2004)",
  )
  expect((await found()).map(({ unclear }) => unclear)).toEqual([false])
})

it("examine names the address that all requests come from only if several programs send them", async () => {
  const requests = (count: number, ip: string, agent: string) =>
    database.run(
      `INSERT INTO cabinet.original_request (id, received_at, source_id, body, body_bytes, ip, user_agent, charset, charset_from, replaced)
       SELECT coalesce(max(id), 0) + n, cabinet.now(), 1, '', 0, ${ip}, ${agent}, 'utf-8', 'data', 0
       FROM generate_series(1, ${count}) n LEFT JOIN cabinet.original_request ON true GROUP BY n`,
    )
  const sole = async () => (await examine()).soleClient
  await requests(99, "'10.42.0.7'", "'program ' || n % 3")
  expect(await sole()).toBeNull()
  await requests(5, "NULL", "'an import'")
  await requests(1, "'10.42.0.7'", "NULL")
  expect(await sole()).toEqual({ address: "10.42.0.7", requests: 100, programs: 3 })
  await requests(1, "'198.51.100.9'", "'another'")
  expect(await sole()).toBeNull()
  await requests(1000, "'10.42.0.7'", "'one program'")
  expect(await sole()).toBeNull()
})

it("examine names a table without partitions", async () => {
  await database.run(
    `DO $$ DECLARE part regclass; BEGIN
       FOR part IN SELECT inhrelid FROM pg_inherits WHERE inhparent = 'cabinet.attempt_failed'::regclass LOOP
         EXECUTE format('DROP TABLE %s', part);
       END LOOP;
     END $$`,
  )
  const { partitions } = await examine()
  expect(partitions).toContainEqual({ table: "attempt_failed", until: null, daysAhead: -1 })
})

it("examine names the session that holds the feed back", async () => {
  const holding = Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const hold = Effect.gen(function* () {
      yield* sql`LOCK TABLE cabinet.fence IN ROW SHARE MODE`
      expect((yield* Effect.promise(examine)).fenceHolders).toEqual([])
      const [me] = yield* sql<{ pid: number }>`SELECT pg_backend_pid() AS pid, pg_current_xact_id()::text`
      const report = yield* Effect.promise(examine)
      expect(report.fenceHolders).toMatchObject([{ pid: me!.pid, application: "a report" }])
    })
    yield* sql.withTransaction(hold)
  })
  const session = PgClient.layer({ url: Redacted.make(database.url), maxConnections: 1, applicationName: "a report" })
  await Effect.runPromise(holding.pipe(Effect.provide(session)))
  expect((await examine()).fenceHolders).toEqual([])
})

it("whatIsMissing is empty for a database that is up to date, and otherwise lists the missing parts", async () => {
  expect(await runtime.runPromise(whatIsMissing)).toBeNull()
  await database.run("DELETE FROM cabinet.migration WHERE number = 1")
  expect(await runtime.runPromise(whatIsMissing)).toBe("migrations that have not been applied: 1")
})

it("outOfLineTables finds tables with at least so many out-of-line values, from the statistics", async () => {
  const value = "(SELECT string_agg(md5(random()::text || n || m), '') FROM generate_series(1, 200) m)"
  // 50 values of four chunks each, and one column that stays within its row.
  await database.run(`CREATE TABLE sources.large AS SELECT n, ${value} AS large FROM generate_series(1, 50) n`)
  await database.run("ALTER TABLE sources.large ALTER large SET STORAGE EXTERNAL")
  const named = async (bound: number) => {
    const found = await runtime.runPromise(PgClient.PgClient.use((sql) => outOfLineTables(sql, bound)))
    return found.filter(({ table }) => table === "sources.large")
  }
  await database.run("VACUUM ANALYZE sources.large")
  expect(await named(50)).toEqual([{ table: "sources.large", values: 50 }])
  expect(await named(51)).toEqual([])
  // Rows removed by VACUUM no longer count.
  await database.run("DELETE FROM sources.large WHERE n > 5")
  await database.run("VACUUM ANALYZE sources.large")
  expect(await named(5)).toEqual([{ table: "sources.large", values: 5 }])
  expect(await named(6)).toEqual([])
  expect((await examine()).outOfLineValues).toEqual([])
})

/** Types that somebody gave to columns by hand, the type that the cabinet gave them, and whether they change some values in silence. */
const HAND_MADE: ReadonlyArray<readonly [expected: string, type: string, inexact: boolean]> = [
  ["numeric", "numeric(10,2)", true],
  ["numeric", "numeric(5,0)", true],
  ["numeric", "real", true],
  ["numeric", "double precision", true],
  ["numeric", "money", true],
  ["numeric", "public.rounded", true],
  ["numeric", "public.positive", false],
  ["numeric", "smallint", false],
  ["numeric", "integer", false],
  ["numeric", "bigint", false],
  ["numeric", "text", false],
  ["text", "character(4)", true],
  ["text", "character varying(4)", true],
  ["text", "integer", true],
  ["text", "boolean", true],
  ["text", "date", true],
  ["text", "timestamp without time zone", true],
  ["text", "name", true],
  ["text", "uuid", true],
  ["text", "character varying", false],
  ["text", "public.mood", false],
  ["text", "jsonb", false],
  ["boolean", "text", false],
  ["jsonb", "json", false],
  ["jsonb", "text[]", true],
  ["timestamptz", "timestamp with time zone", false],
  ["timestamptz", "timestamp(6) with time zone", false],
  ["timestamptz", "timestamp(0) with time zone", true],
  ["timestamptz", "timestamp without time zone", true],
  ["timestamptz", "date", true],
  ["date", "date", false],
  ["date", "timestamp with time zone", true],
]

it("examine names columns whose hand-made type changes values in silence, and tables that are gone", async () => {
  await database.run("CREATE DOMAIN public.rounded AS numeric(10,2)")
  await database.run("CREATE DOMAIN public.positive AS numeric CHECK (value > 0)")
  await database.run("CREATE TYPE public.mood AS ENUM ('sad', 'glad')")
  const create = (name: string) => runtime.runPromise(Sources.use((all) => all.create({ name })))
  const { id } = await create("Hand made")
  const columns = HAND_MADE.map(([, type], n) => `ADD COLUMN c${n} ${type}`)
  await database.run(`ALTER TABLE sources.hand_made ${columns.join(", ")}, ADD COLUMN own real`)
  for (const [n, [expected]] of HAND_MADE.entries())
    await database.run(
      `INSERT INTO cabinet.field_column (source_id, position, field, name, type) VALUES (${id}, ${n + 1}, 'c${n}', 'c${n}', '${expected}')`,
    )
  const named = HAND_MADE.flatMap(([expected, type, inexact], n) =>
    inexact ? [{ sourceId: id, table: "sources.hand_made", column: `c${n}`, type, expected }] : [],
  )
  expect((await examine()).inexactColumns).toEqual(named)
  expect((await examine()).lostTables).toEqual([])
  await database.run("ALTER TABLE sources.hand_made RENAME TO elsewhere")
  const report = await examine()
  expect(report.inexactColumns).toEqual([])
  expect(report.lostTables).toEqual([{ sourceId: id, name: "Hand made", table: "sources.hand_made" }])
})

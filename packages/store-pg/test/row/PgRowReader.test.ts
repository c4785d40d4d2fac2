import { RowReader } from "@data-cabinet/core/row/RowReader"
import { PgClient } from "@effect/sql-pg"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { Effect, Fiber, Layer, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { itemsOf, openReading, type Reading, type TextPage, withTexts } from "./reading.ts"

let reading: Reading
/** With the usual time limit, for large reads. */
let patient: Reading
beforeAll(async () => {
  patient = await openReading({ maxReaderConnections: 4 })
  reading = await openReading({ maxReaderConnections: 4, settings: { statementTimeout: 2_000, lockTimeout: 200 } })
  await reading.run(`CREATE TABLE t (id int PRIMARY KEY, n int)`)
  await reading.run(`INSERT INTO t VALUES (1, 10), (2, 0)`)
  await reading.run(`CREATE VIEW slow AS SELECT id, pg_sleep(60)::text AS nap FROM t`)
})
afterAll(() => Promise.all([reading.close(), patient.close()]))

/** The error of a read that must fail. */
const failureIn = async (of: Reading, name: string, ...params: Parameters<Reading["page"]>[1] & {}) => {
  const result = await of.page(name, params)
  if (Result.isSuccess(result)) throw new Error(`${name} was read`)
  return result.failure
}

const failure = (name: string, ...params: Parameters<Reading["page"]>[1] & {}) => failureIn(reading, name, ...params)

/** The same of a read that its limit ends: one that a busy machine took for frozen is repeated. */
const overTime = async (name: string) => {
  for (;;) {
    const failed = await failure(name)
    if (!("code" in failed && failed.code === "reader_off")) return failed
  }
}

const page = (name: string) =>
  SelectRows.use((rows) => fromCall((call) => rows.page({ schema: "public", name, params: [] }, call)))

/** Waits until a query by the reader returns the expected state of the server's sessions. */
const until = async (condition: string) => {
  for (;;) {
    const [row] = await reading.database.run(
      `SELECT (${condition}) AS yes FROM pg_stat_activity WHERE datname = current_database() AND usename = '${reading.readerRole}'`,
    )
    if (row?.["yes"] === true) return
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

describe("PgRowReader", () => {
  it("returns query_failed with the database's message when a view's query fails, without its SQL", async () => {
    await reading.run(`CREATE VIEW broken AS SELECT id, 1 / n AS inverse FROM t`)
    expect(await failure("broken")).toMatchObject({ code: "query_failed", message: "division by zero" })
    expect((await failure("broken")).message).not.toContain("SELECT")
  })

  it("returns query_timeout when the query exceeds its limit", async () => {
    expect(await overTime("slow")).toMatchObject({ code: "query_timeout" })
  })

  it("returns reader_off while the reader's sessions are frozen, and reads again afterwards", async () => {
    await Promise.all([reading.page("t"), reading.page("slow")])
    const sessions = await reading.database.run(
      `SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND usename = '${reading.readerRole}'`,
    )
    const pids = sessions.map((row) => Number(row["pid"]))
    for (const pid of pids) process.kill(pid, "SIGSTOP")
    try {
      expect(await failure("t")).toMatchObject({ code: "reader_off" })
    } finally {
      for (const pid of pids) process.kill(pid, "SIGCONT")
    }
    expect(itemsOf(await reading.page("t")).length).toBe(2)
  })

  it("returns table_busy while the table is locked, and reads again afterwards", async () => {
    await reading.runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql.unsafe(`GRANT ALL ON SCHEMA sources TO CURRENT_USER`)
            yield* sql.unsafe(`SET LOCAL ROLE "${reading.authorRole}"`)
            yield* sql.unsafe(`LOCK TABLE public.t IN ACCESS EXCLUSIVE MODE`)
            expect(yield* Effect.promise(() => failure("t"))).toMatchObject({ code: "table_busy" })
          }),
        )
      }),
    )
    expect(itemsOf(await reading.page("t")).length).toBe(2)
  })

  it("returns query_failed when the reader lacks a privilege that the view needs", async () => {
    await reading.run(`CREATE TABLE hidden (id int)`)
    await reading.run(`CREATE VIEW peeks WITH (security_invoker = true) AS SELECT * FROM hidden`)
    await reading.run(`REVOKE ALL ON hidden FROM "${reading.readerRole}"`)
    expect(await failure("peeks")).toMatchObject({
      code: "query_failed",
      message: "permission denied for table hidden",
    })
  })

  it("returns query_failed when a view's function tries to write", async () => {
    await reading.run(
      `CREATE FUNCTION write() RETURNS int LANGUAGE plpgsql AS $$ BEGIN INSERT INTO public.t VALUES (9, 9); RETURN 1; END $$ SECURITY DEFINER`,
    )
    await reading.run(`CREATE VIEW writes AS SELECT write() AS one`)
    expect(await failure("writes")).toMatchObject({ code: "query_failed" })
    expect(itemsOf(await reading.page("t")).length).toBe(2)
  })

  it("never lets a view read the service's own tables", async () => {
    await reading.run(`CREATE FUNCTION steal() RETURNS text LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM set_config('role', 'cabinet', false);
        RETURN (SELECT string_agg(name, ',') FROM cabinet.api_key);
      END $$`)
    await reading.run(`CREATE VIEW steals AS SELECT steal() AS keys`)
    expect(await failure("steals")).toMatchObject({ code: "query_failed" })
    await reading.run(
      `CREATE FUNCTION peek() RETURNS text LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM cabinet.role_password); END $$`,
    )
    await reading.run(`CREATE VIEW sees AS SELECT peek() AS keys`)
    expect(await failure("sees")).toMatchObject({
      code: "query_failed",
      message: "permission denied for schema cabinet",
    })
  })

  it("returns query_failed when a view raises an error itself, with any SQLSTATE, and with its message", async () => {
    const states = ["57014", "55P03", "57P01", "57P02", "57P03", "57P05", "40P01", "40001", "08006", "28000", "3D000"]
    for (const state of [...states, "53300", "25006", "P0001", "22012"]) {
      await reading.run(
        `CREATE FUNCTION raise_${state}() RETURNS int LANGUAGE plpgsql AS $$
           BEGIN RAISE EXCEPTION 'said by the view' USING ERRCODE = '${state}'; END $$`,
      )
      await reading.run(`CREATE VIEW raises_${state} AS SELECT raise_${state}() AS one`)
      expect(await failure(`raises_${state.toLowerCase()}`), state).toMatchObject({
        code: "query_failed",
        message: "said by the view",
      })
    }
  })

  it("returns query_timeout and table_busy for errors of PostgreSQL's own, also inside a view's function", async () => {
    await reading.run(
      `CREATE FUNCTION naps() RETURNS int LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_sleep(60); RETURN 1; END $$`,
    )
    await reading.run(`CREATE VIEW napping AS SELECT naps() AS one`)
    expect(await overTime("napping")).toMatchObject({ code: "query_timeout" })
    await reading.run(`CREATE TABLE taken (n int)`)
    await reading.run(`CREATE FUNCTION waits() RETURNS bigint LANGUAGE plpgsql AS $$
      BEGIN RETURN (SELECT count(*) FROM public.taken); END $$`)
    await reading.run(`CREATE FUNCTION refuses() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN LOCK TABLE public.taken IN ACCESS SHARE MODE NOWAIT; RETURN 1; END $$`)
    await reading.run(`CREATE VIEW waiting AS SELECT waits() AS n`)
    await reading.run(`CREATE VIEW refusing AS SELECT refuses() AS n`)
    await reading.runtime.runPromise(
      Effect.gen(function* () {
        const sql = yield* PgClient.PgClient
        yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql.unsafe(`GRANT ALL ON SCHEMA sources TO CURRENT_USER`)
            yield* sql.unsafe(`SET LOCAL ROLE "${reading.authorRole}"`)
            yield* sql.unsafe(`LOCK TABLE public.taken IN ACCESS EXCLUSIVE MODE`)
            for (const name of ["waiting", "refusing"]) {
              expect(yield* Effect.promise(() => failure(name)), name).toMatchObject({ code: "table_busy" })
            }
          }),
        )
      }),
    )
  })

  it("leaves nothing of a view's function in the session of the next read", async () => {
    await reading.run(`CREATE TABLE moments (at timestamptz)`)
    await reading.run(`INSERT INTO moments VALUES ('2026-01-02 03:04:05Z')`)
    await reading.run(`CREATE FUNCTION spoil() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM set_config('TimeZone', 'Asia/Tokyo', false), set_config('search_path', 'nowhere', false),
          set_config('statement_timeout', '1', false), set_config('default_transaction_read_only', 'off', false),
          set_config('DateStyle', 'German', false), pg_advisory_lock(42);
        RETURN 1;
      END $$`)
    await reading.run(`CREATE VIEW spoils AS SELECT spoil() AS one`)
    for (let round = 0; round < 8; round++) {
      await reading.page("spoils")
      expect(itemsOf(await reading.page("moments"))).toEqual([{ at: "2026-01-02T03:04:05Z" }])
    }
    const locks = await reading.database.run(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 42`)
    expect(locks).toEqual([])
  })

  it("resolves names without a schema in a view's function", async () => {
    await reading.run(
      `CREATE FUNCTION bare() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN (SELECT count(*) FROM t); END $$`,
    )
    await reading.run(`CREATE VIEW bares AS SELECT bare() AS n`)
    expect(itemsOf(await reading.page("bares"))).toEqual([{ n: 2 }])
  })

  it("cancels the query of a client that disconnects", async () => {
    const reader = reading.runtime.runFork(page("slow"))
    await until(`bool_or(state = 'active' AND query LIKE '%"slow"%')`)
    await Effect.runPromise(Fiber.interrupt(reader))
    await until(`NOT coalesce(bool_or(state = 'active' AND query LIKE '%"slow"%'), false)`)
    expect(itemsOf(await reading.page("t")).length).toBe(2)
  })

  it("reads other objects while many clients read one slow view", async () => {
    const crowd = Array.from({ length: 12 }, () => reading.runtime.runFork(page("slow")))
    await until(`count(*) FILTER (WHERE state = 'active' AND query LIKE '%"slow"%') = 2`)
    for (let round = 0; round < 5; round++) expect(itemsOf(await reading.page("t")).length).toBe(2)
    const [row] = await reading.database.run(
      `SELECT count(*)::int AS n FROM pg_stat_activity WHERE state = 'active' AND query LIKE '%"slow"%' AND usename = '${reading.readerRole}'`,
    )
    // One of them may have just ended, and the next not begun.
    expect(row?.["n"]).toBeLessThanOrEqual(2)
    await Promise.all(crowd.map((fiber) => Effect.runPromise(Fiber.interrupt(fiber))))
  })

  it("returns reader_off while it cannot connect, and recovers on its own", async () => {
    await reading.database.run(`ALTER ROLE "${reading.readerRole}" NOLOGIN`)
    await reading.database.run(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${reading.readerRole}'`,
    )
    const codes: Array<string> = []
    for (let round = 0; round < 6; round++) codes.push(((await failure("t")) as { code: string }).code)
    expect(new Set(codes)).toEqual(new Set(["reader_off"]))
    await reading.database.run(`ALTER ROLE "${reading.readerRole}" LOGIN`)
    expect(itemsOf(await reading.page("t")).length).toBe(2)
  })

  it("reads after connections were lost while they were idle", async () => {
    expect(itemsOf(await reading.page("t")).length).toBe(2)
    const lost = await reading.database.run(
      `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = '${reading.readerRole}'`,
    )
    // The pool may have opened another session at once.
    await until(`count(*) FILTER (WHERE pid IN (${lost.map(({ pid }) => pid).join()})) = 0`)
    await reading.page("t")
    expect(itemsOf(await reading.page("t")).length).toBe(2)
  })

  it("distinguishes a value that the type cannot take from a query that fails", async () => {
    await reading.run(
      `CREATE TABLE kinds (id int PRIMARY KEY, n numeric, d date, u uuid, j jsonb, b bit(3), v varchar(2))`,
    )
    await reading.run(`INSERT INTO kinds VALUES (1, 1, '2026-01-01', gen_random_uuid(), '1', B'101', 'ab')`)
    for (const [column, value] of [
      ["n", "1,5"],
      ["n", ""],
      ["d", "2026-02-30"],
      ["u", "x"],
      ["j", "{"],
      ["b", "2"],
      ["id", "9999999999"],
      ["id", "1.5"],
    ]) {
      expect(
        await failure(
          "kinds",
          ["fc", "v"],
          ["fo", "eq"],
          ["fv", "abc"],
          ["fc", column ?? ""],
          ["fo", "eq"],
          ["fv", value ?? ""],
        ),
        `${column} = ${value}`,
      ).toMatchObject({ code: "bad_fv", param: "fv", message: expect.stringContaining("fv number 2") })
    }
    await reading.run(`CREATE VIEW casts AS SELECT id, (n::text || 'x')::int AS bad FROM kinds`)
    expect(await failure("casts", ["fc", "id"], ["fo", "eq"], ["fv", "1"])).toMatchObject({ code: "query_failed" })
  })

  it.each([
    [1_000_000, [8, 8, 4]],
    [600_000, [13, 7]],
  ])("ends a page of rows of %i bytes early at eight megabytes, and continues from there", async (bytes, expected) => {
    const name = `heavy_${bytes}`
    await patient.run(`CREATE TABLE ${name} (id int PRIMARY KEY, body text)`)
    await patient.run(`ALTER TABLE ${name} ALTER body SET STORAGE EXTERNAL`)
    await patient.run(`INSERT INTO ${name} SELECT g, repeat('x', ${bytes}) FROM generate_series(1, 20) g`)
    const sizes: Array<number> = []
    let cursor: string | null = null
    do {
      const result: TextPage = Result.getOrThrow(
        await patient.page(name, [["limit", "20"], ...(cursor === null ? [] : [["cursor", cursor] as const])]),
      )
      sizes.push(result.items.length)
      expect(result.hasMore).toBe(result.nextCursor !== null)
      cursor = result.nextCursor
    } while (cursor !== null)
    expect(sizes).toEqual(expected)
  })

  it("counts keys in a page's bytes", async () => {
    const columns = Array.from({ length: 300 }, (_, index) => `"${String(index).padEnd(60, "x")}" int`)
    await patient.run(`CREATE TABLE keys (id int PRIMARY KEY, ${columns.join(", ")})`)
    await patient.run(`INSERT INTO keys SELECT generate_series(1, 1000)`)
    const { items, nextCursor } = Result.getOrThrow(await patient.page("keys", [["limit", "1000"]]))
    const sizes = items.map((item) => item.length)
    const all = sizes.reduce((sum, size) => sum + size, 0)
    expect(all).toBeLessThanOrEqual(8 * 1024 * 1024)
    // Each value comes with some bytes that the JSON does not have.
    expect(all).toBeGreaterThan(7 * 1024 * 1024)
    const { items: next } = Result.getOrThrow(
      await patient.page("keys", [
        ["limit", "1"],
        ["cursor", nextCursor!],
      ]),
    )
    expect(JSON.parse(next[0]!).id).toBe(items.length + 1)
  })

  it("shows a row longer than a page by itself", async () => {
    await patient.run(
      `CREATE TABLE big_rows AS SELECT g AS id, repeat('x', 9000000) AS body FROM generate_series(1, 2) g`,
    )
    await patient.run(`ALTER TABLE big_rows ADD PRIMARY KEY (id)`)
    const { items, nextCursor } = Result.getOrThrow(await patient.page("big_rows"))
    expect(items.map((item) => JSON.parse(item).id)).toEqual([1])
    expect(itemsOf(await patient.page("big_rows", [["cursor", nextCursor!]])).map(({ id }) => id)).toEqual([2])
  })

  it.each(["shown", "hidden"])("reports a page that ends at a %s value too long for a cursor", async (how) => {
    await patient.run(`CREATE TABLE ends_${how} (id int PRIMARY KEY, body text)`)
    await patient.run(`INSERT INTO ends_${how} SELECT g, repeat('x', 3999 + g) FROM generate_series(1, 3) g`)
    const params = (limit: string): ParamPairs => [
      ["sort", "body"],
      ["limit", limit],
      [how === "shown" ? "col" : "hide", "body"],
    ]
    const { items, nextCursor } = Result.getOrThrow(await patient.page(`ends_${how}`, params("1")))
    expect(items).toEqual([how === "shown" ? `{"body":"${"x".repeat(4_000)}"}` : '{"id":1}'])
    const rest = itemsOf(await patient.page(`ends_${how}`, [...params("5"), ["cursor", nextCursor!]]))
    expect(rest.length).toBe(2)
    expect(await failureIn(patient, `ends_${how}`, ...params("2"))).toMatchObject({
      code: "bad_selection",
      param: "sort",
      message: expect.stringContaining("too long for a cursor"),
    })
  })

  it("does not count hidden sort values among a page's bytes", async () => {
    await patient.run(`CREATE TABLE sorted_by (id int PRIMARY KEY, body text)`)
    await patient.run(`INSERT INTO sorted_by SELECT g, repeat('x', 1000000 + g) FROM generate_series(1, 20) g`)
    const { items, hasMore } = Result.getOrThrow(
      await patient.page("sorted_by", [
        ["sort", "body"],
        ["hide", "body"],
        ["limit", "20"],
      ]),
    )
    expect([items.length, hasMore]).toEqual([20, false])
  })

  it.each([1, 3, 4, 7])("has row %i in place, even if it is much longer than the others", async (long) => {
    await patient.run(`CREATE TABLE uneven_${long} AS
      SELECT g AS id, repeat('x', CASE g WHEN ${long} THEN 3000000 ELSE 3 END) AS body FROM generate_series(1, 7) g`)
    await patient.run(`ALTER TABLE uneven_${long} ADD PRIMARY KEY (id)`)
    const pages: Array<ReadonlyArray<number>> = []
    let cursor: string | null = null
    do {
      const result: TextPage = Result.getOrThrow(
        await patient.page(`uneven_${long}`, [
          ["limit", "3"],
          ...(cursor === null ? [] : [["cursor", cursor] as const]),
        ]),
      )
      pages.push(result.items.map((item) => JSON.parse(item).id))
      cursor = result.nextCursor
    } while (cursor !== null)
    expect(pages).toEqual([[1, 2, 3], [4, 5, 6], [7]])
  })

  it("reports a single row that is too long to send, and reads it with fewer columns", async () => {
    await patient.run(`CREATE TABLE whale (id int PRIMARY KEY, body text)`)
    await patient.run(`INSERT INTO whale SELECT 1, repeat('x', 20000000)`)
    expect(await failureIn(patient, "whale")).toMatchObject({
      code: "query_failed",
      message: expect.stringContaining("col"),
    })
    expect(itemsOf(await patient.page("whale", [["col", "id"]]))).toEqual([{ id: 1 }])
  })

  it.each([
    ["dropped", "DROP TABLE fleeting", { _tag: "Failure", failure: { code: "no_such_table", param: null } }],
    ["taken from the reader", "REVOKE SELECT ON fleeting FROM PUBLIC", { failure: { code: "no_such_table" } }],
    ["given another column", "ALTER TABLE fleeting RENAME n TO m", { success: { items: ['{"id":1,"m":"7"}'] } }],
    ["given another type", "ALTER TABLE fleeting ALTER n TYPE int USING 7", { success: { items: ['{"id":1,"n":7}'] } }],
    [
      "robbed of the column it is sorted by",
      "ALTER TABLE fleeting DROP n",
      { failure: { code: "unknown_column" } },
      "n",
    ],
    ["recreated", "DROP TABLE fleeting; CREATE TABLE fleeting (x int)", { success: { items: [] } }],
  ])("reads an object in its current form if it was %s since its lookup", async (_what, change, expected, sort?) => {
    await reading.run(`CREATE TABLE fleeting (id int PRIMARY KEY, n text)`)
    await reading.run(`INSERT INTO fleeting VALUES (1, '7')`)
    await reading.run(`REVOKE SELECT ON fleeting FROM "${reading.readerRole}"`)
    await reading.run(`GRANT SELECT ON fleeting TO PUBLIC`)
    const params: ParamPairs = sort === undefined ? [] : [["sort", sort]]
    let changed = false
    const answer = await reading.runtime.runPromise(
      Effect.gen(function* () {
        const real = yield* RowReader
        const slow = RowReader.of({
          read: async (query, call) => {
            for (const statement of changed ? [] : change.split("; ")) await reading.run(statement)
            changed = true
            return real.read(query, call)
          },
        })
        return yield* SelectRows.use((rows) =>
          fromCall((call) => rows.page({ schema: "public", name: "fleeting", params }, call)),
        ).pipe(
          Effect.provide(Layer.fresh(SelectRows.layer).pipe(Layer.provide(Layer.succeed(RowReader, slow)))),
          withTexts,
          Effect.result,
        )
      }),
    )
    await reading.run(`DROP TABLE IF EXISTS fleeting`)
    expect(answer).toMatchObject(expected)
  })

  it("shows changes by DDL at the next read, without querying the catalog first", async () => {
    await reading.run(`CREATE TABLE changing (a int NOT NULL, b text)`)
    await reading.run(`INSERT INTO changing VALUES (2, 'x'), (1, 'y')`)
    const rows = async (...params: ParamPairs) => {
      const read = Result.getOrThrow(await reading.page("changing", params))
      return [read.items.join(), read.columns.map(({ name, type, comment }) => `${name} ${type} ${comment}`).join()]
    }
    const first = ['{"a":2,"b":"x"},{"a":1,"b":"y"}', "a integer null,b text null"]
    expect(await rows()).toEqual(first)
    expect(await rows()).toEqual(first)
    await reading.run(`COMMENT ON COLUMN changing.b IS 'said'`)
    expect(await rows()).toEqual([first[0], "a integer null,b text said"])
    await reading.run(`ALTER TABLE changing ADD c boolean DEFAULT true`)
    expect(await rows(["hide", "b"])).toEqual(['{"a":2,"c":true},{"a":1,"c":true}', "a integer null,c boolean null"])
    await reading.run(`ALTER TABLE changing RENAME c TO d`)
    expect(await rows(["col", "d"], ["limit", "1"])).toEqual(['{"d":true}', "d boolean null"])
    await reading.run(`ALTER TABLE changing ALTER d TYPE text`)
    expect(await rows(["col", "d"], ["limit", "1"])).toEqual(['{"d":"true"}', "d text null"])
    await reading.run(`ALTER TABLE changing ALTER b TYPE varchar`)
    expect(await rows(["col", "b"])).toEqual(['{"b":"x"},{"b":"y"}', "b character varying said"])
    await reading.run(`ALTER TABLE changing DROP d`)
    expect(await rows()).toEqual([first[0], "a integer null,b character varying said"])
    await reading.run(`ALTER TABLE changing ADD PRIMARY KEY (a)`)
    expect((await rows(["col", "a"]))[0]).toBe('{"a":1},{"a":2}')
    await reading.run(`DROP TABLE changing`)
    expect(await failure("changing")).toMatchObject({ code: "no_such_table" })
    await reading.run(`CREATE TABLE changing (a int PRIMARY KEY, b varchar)`)
    expect((await rows())[0]).toBe("")
    await reading.addSchema("apart")
    await reading.run(`CREATE TABLE apart.changing (a int PRIMARY KEY)`)
    for (const right of [`SELECT ON apart.changing`, `USAGE ON SCHEMA apart`]) {
      const read = () => reading.page("changing", [], "apart")
      expect(itemsOf(await read())).toEqual([])
      await reading.run(`REVOKE ${right} FROM "${reading.readerRole}"`)
      expect(await read(), right).toMatchObject({ failure: { code: "no_such_table" } })
      await reading.run(`GRANT ${right} TO "${reading.readerRole}"`)
      expect(itemsOf(await read())).toEqual([])
    }
  })
})

/**
 * Views and tables of a hostile author, read next to honest ones of the same cabinet. The effects of the author's code
 * end with its read and within its time limit, and it never runs in a session that reads other rows.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect, Fiber, Queue, Redacted, Result } from "effect"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { searchFunction } from "@data-cabinet/core/row/SearchSql"
import { FOLD_COLLATION } from "@data-cabinet/store-pg/row/FoldCollation"
import { itemsOf, openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading({ maxReaderConnections: 4, settings: { statementTimeout: 2_000 } })
  await reading.run(`CREATE TABLE honest (id int PRIMARY KEY, at timestamptz[], t text)`)
  await reading.run(`INSERT INTO honest VALUES (1, '{2026-01-02 03:04:05Z}', 'Ёж'), (2, NULL, 'b')`)
  // Only in the reader's sessions; the author's own also run it, when they create an index with it.
  await reading.run(`CREATE FUNCTION spoil() RETURNS int LANGUAGE plpgsql AS $$
    DECLARE named text;
    BEGIN
      IF session_user <> '${reading.readerRole}' THEN RETURN 1; END IF;
      PERFORM set_config('TimeZone', 'Asia/Tokyo', false), set_config('search_path', 'nowhere', false),
        set_config('statement_timeout', '0', false), set_config('default_transaction_read_only', 'off', false),
        set_config('standard_conforming_strings', 'off', false), set_config('row_security', 'off', false),
        pg_try_advisory_lock(4242), pg_try_advisory_xact_lock(4243), pg_notify('hostile', 'told');
      FOR named IN SELECT name FROM pg_prepared_statements LOOP
        EXECUTE format('DEALLOCATE %I', named);
        EXECUTE format($f$PREPARE %I AS SELECT ROW('forged'::bytea), '1'$f$, named);
      END LOOP;
      EXECUTE 'LISTEN hostile';
      RETURN 1;
    END $$`)
  await reading.run(
    `CREATE FUNCTION planned() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$ BEGIN RETURN public.spoil(); END $$`,
  )
})
afterAll(() => reading.close())

const HONEST = [
  { id: 1, at: ["2026-01-02T03:04:05Z"], t: "Ёж" },
  { id: 2, at: null, t: "b" },
]

/** Uses every shared session, each a second time with its prepared statement. */
const honestReads = async () => {
  const all = await Promise.all(Array.from({ length: 8 }, () => reading.page("honest")))
  for (const one of all) expect(itemsOf(one)).toEqual(HONEST)
  expect(itemsOf(await reading.page("honest", [["q", "ёж"]]))).toEqual([HONEST[0]])
}

const rowsOf = async (sql: string) => (await reading.database.run(sql)) as ReadonlyArray<Record<string, unknown>>

const locksHeld = (key: number) => rowsOf(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = ${key}`)

const readerRuns = async (what: string) =>
  (await rowsOf(`SELECT 1 FROM pg_stat_activity WHERE usename = '${reading.readerRole}' AND ${what}`)).length > 0

const until = async (condition: () => Promise<boolean>) => {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 20))
}

const timeout = 300_000

describe("a hostile author", () => {
  it("leaves nothing behind through a view's function", { timeout }, async () => {
    await reading.run(`CREATE VIEW spoils AS SELECT id, spoil() AS s FROM honest`)
    await honestReads()
    const heard: Array<unknown> = []
    const listening = Effect.runFork(
      PgClient.PgClient.use((sql) =>
        Effect.gen(function* () {
          const queue = yield* sql.listen("hostile")
          heard.push("listening")
          for (;;) heard.push((yield* Queue.take(queue)).payload)
        }),
      ).pipe(Effect.scoped, Effect.provide(PgClient.layer({ url: Redacted.make(reading.database.url) }))),
    )
    await until(() => Promise.resolve(heard.length === 1))
    for (let round = 0; round < 4; round++) {
      const pages = await Promise.all(["spoils", "spoils", "spoils"].map((name) => reading.page(name)))
      for (const page of pages) {
        expect(itemsOf(page)).toEqual([
          { id: 1, s: 1 },
          { id: 2, s: 1 },
        ])
      }
      await honestReads()
      expect([...(await locksHeld(4242)), ...(await locksHeld(4243))]).toEqual([])
    }
    await reading.database.run(`SELECT pg_notify('hostile', 'last')`)
    await until(() => Promise.resolve(heard.at(-1) === "last"))
    await Effect.runPromise(Fiber.interrupt(listening))
    expect(heard).toEqual(["listening", "last"])
  })

  it("writes nothing, not even to a large object", { timeout }, async () => {
    await reading.run(`CREATE FUNCTION write_all() RETURNS text LANGUAGE plpgsql SECURITY DEFINER AS $$
      DECLARE done text := '';
      BEGIN
        BEGIN PERFORM set_config('transaction_read_only', 'off', false); done := done || 'switched '; EXCEPTION WHEN OTHERS THEN NULL; END;
        BEGIN PERFORM lo_from_bytea(0, 'x'); EXCEPTION WHEN OTHERS THEN NULL; END;
        BEGIN INSERT INTO public.honest VALUES (3); done := done || 'inserted '; EXCEPTION WHEN OTHERS THEN NULL; END;
        BEGIN CREATE TEMP TABLE honest (id int); done := done || 'created '; EXCEPTION WHEN OTHERS THEN NULL; END;
        RETURN done;
      END $$`)
    await reading.run(`CREATE VIEW writes_all AS SELECT write_all() AS done`)
    expect(itemsOf(await reading.page("writes_all"))).toEqual([{ done: "" }])
    expect(await rowsOf(`SELECT 1 FROM pg_largeobject_metadata`)).toEqual([])
    await honestReads()
  })

  it.each([
    ["an index's expression", `CREATE INDEX traps ON trapped ((id + planned()))`],
    ["an index's condition", `CREATE INDEX traps ON trapped (id) WHERE id > planned()`],
    ["statistics", `CREATE STATISTICS traps ON (id + planned()), (id * 2) FROM trapped`],
    ["a constraint", `ALTER TABLE trapped ADD CHECK (id > planned() - 100)`],
    ["a partition's constraint", `CREATE TABLE heir (CHECK (id > planned() - 100)) INHERITS (trapped)`],
    ["row policies", `CREATE POLICY traps ON trapped USING (planned() = 1)`],
  ])(
    "runs nothing in a shared session by %s added to a table after its lookup",
    { timeout },
    async (_by, statement) => {
      await reading.run(`CREATE TABLE trapped (id int, t text)`)
      await reading.run(`INSERT INTO trapped VALUES (7, 'x')`)
      try {
        const read = async () => {
          const pages = await Promise.all(Array.from({ length: 4 }, () => reading.page("trapped")))
          for (const page of pages) expect(itemsOf(page)).toEqual([{ id: 7, t: "x" }])
          await honestReads()
        }
        await read()
        await reading.run(statement)
        if (statement.startsWith("CREATE POLICY")) await reading.run(`ALTER TABLE trapped ENABLE ROW LEVEL SECURITY`)
        await read()
        await read()
        expect([...(await locksHeld(4242)), ...(await locksHeld(4243))]).toEqual([])
      } finally {
        await reading.run(`DROP TABLE trapped CASCADE`)
      }
    },
  )

  const evade = (key: number) => `LANGUAGE plpgsql AS $$
    BEGIN
      PERFORM set_config('statement_timeout', '0', false), pg_advisory_xact_lock(${key});
      LOOP
        BEGIN PERFORM pg_sleep(100); EXCEPTION WHEN query_canceled THEN NULL; END;
      END LOOP;
    END $$`

  it("is terminated with its locks if it catches every cancel", { timeout }, async () => {
    await reading.run(`CREATE FUNCTION evade() RETURNS int ${evade(4244)}`)
    await reading.run(`CREATE VIEW evades AS SELECT evade() AS e`)
    const crowd = Promise.all(Array.from({ length: 3 }, () => reading.page("evades")))
    await until(async () => (await locksHeld(4244)).length > 0)
    await honestReads()
    const answers = await crowd
    for (const answer of answers) {
      // A busy machine may take it for a frozen database.
      const code = expect.stringMatching(/^(query_timeout|reader_off)$/) as string
      expect(Result.isFailure(answer) && answer.failure).toMatchObject({ code })
    }
    await until(async () => !(await readerRuns(`query LIKE '%evades%' AND state = 'active'`)))
    expect(await locksHeld(4244)).toEqual([])
    await honestReads()
  })

  it("is terminated when its client disconnects", { timeout }, async () => {
    await reading.run(`CREATE FUNCTION evade_alone() RETURNS int ${evade(4245)}`)
    await reading.run(`CREATE VIEW evades_alone AS SELECT evade_alone() AS e`)
    const page = SelectRows.use((rows) =>
      fromCall((call) => rows.page({ schema: "public", name: "evades_alone", params: [] }, call)),
    )
    const client = reading.runtime.runFork(page)
    await until(async () => (await locksHeld(4245)).length > 0)
    await Effect.runPromise(Fiber.interrupt(client))
    // A session that ends releases its locks before it leaves the list of sessions.
    await until(async () => !(await readerRuns(`query LIKE '%evades_alone%' AND state = 'active'`)))
    expect(await locksHeld(4245)).toEqual([])
  })

  it("cannot change another client's search by a cast of an enum to text", { timeout }, async () => {
    await reading.run(`CREATE TYPE mood AS ENUM ('happy', 'sad')`)
    await reading.run(`CREATE TABLE moods (id int PRIMARY KEY, m mood)`)
    await reading.run(`INSERT INTO moods VALUES (1, 'happy'), (2, 'sad')`)
    await reading.run(`CREATE FUNCTION lie(mood) RETURNS text LANGUAGE sql IMMUTABLE RETURN 'nothing'`)
    await reading.run(`CREATE CAST (mood AS text) WITH FUNCTION lie(mood) AS ASSIGNMENT`)
    expect(itemsOf(await reading.page("moods", [["q", "SAD"]]))).toEqual([{ id: 2, m: "sad" }])
    const first = Result.getOrThrow(
      await reading.page("moods", [
        ["sort", "m"],
        ["limit", "1"],
      ]),
    )
    const params = [
      ["sort", "m"],
      ["limit", "1"],
      ["cursor", first.nextCursor!],
    ] as const
    expect(itemsOf(await reading.page("moods", params))).toEqual([{ id: 2, m: "sad" }])
  })

  it("is not mistaken for the owner after creating the schema of the search functions", { timeout }, async () => {
    await reading.asBefore(`CREATE SCHEMA cabinet_search`)
    await reading.run(`GRANT USAGE ON SCHEMA cabinet_search TO PUBLIC`)
    await reading.run(`CREATE FUNCTION cabinet_search.planned() RETURNS int LANGUAGE plpgsql IMMUTABLE AS
      $$ BEGIN RETURN public.spoil(); END $$`)
    await reading.run(`CREATE FUNCTION cabinet_search.shown(text) RETURNS text LANGUAGE sql IMMUTABLE RETURN $1`)
    const collation = await rowsOf(FOLD_COLLATION)
    const search = searchFunction(`"pg_catalog"."${String(collation[0]!["name"])}"`).sql
    await reading.run(`CREATE FUNCTION ${search}(text[]) RETURNS text LANGUAGE plpgsql IMMUTABLE AS
      $$ BEGIN PERFORM public.spoil(); RETURN upper($1[1]); END $$`)
    await reading.run(`CREATE TABLE early (t text)`)
    await reading.run(`INSERT INTO early VALUES ('x')`)
    await reading.run(`CREATE INDEX ON early (${search}(ARRAY[cabinet_search.shown(t)]))`)
    await reading.run(`CREATE TABLE earlier (id int)`)
    await reading.run(`CREATE INDEX ON earlier ((id + cabinet_search.planned()))`)
    for (const [name, params] of [
      ["early", [["q", "X"]]],
      ["earlier", []],
    ] as const) {
      await Promise.all(Array.from({ length: 4 }, () => reading.page(name, params)))
      await honestReads()
      expect([...(await locksHeld(4242)), ...(await locksHeld(4243))]).toEqual([])
    }
  })

  it(
    "affects no session of a source's table through statistics that are dropped before their read ends",
    { timeout },
    async () => {
      const owner = (sql: string) => reading.runtime.runPromise(PgClient.PgClient.use((client) => client.unsafe(sql)))
      await owner(`CREATE TABLE sources.ours (at timestamptz[])`)
      await owner(`INSERT INTO sources.ours VALUES ('{2026-01-02 03:04:05Z}')`)
      await owner(
        `INSERT INTO cabinet.source (name, intake_secret, secret_hash, table_name) VALUES ('Ours', '', '', 'ours')`,
      )
      // The function that writes has to be a different one from the immutable one.
      await reading.run(`CREATE FUNCTION seize_reader() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN
        ALTER ROLE CURRENT_USER SET work_mem = '1MB';
        RETURN 1;
      EXCEPTION WHEN OTHERS THEN RETURN 1;
      END $$`)
      // Until its statistics are gone. A session hears of others' changes when it takes a lock.
      await reading.run(`CREATE FUNCTION linger() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
      DECLARE raced oid := (SELECT oid FROM pg_statistic_ext WHERE stxname = 'raced');
      BEGIN
        IF session_user <> '${reading.readerRole}' THEN RETURN 1; END IF;
        PERFORM public.seize_reader(), public.spoil();
        WHILE pg_get_statisticsobjdef(raced) IS NOT NULL LOOP
          PERFORM pg_sleep(0.01);
          EXECUTE 'SELECT FROM pg_class WHERE false';
        END LOOP;
        RETURN 1;
      END $$`)
      await reading.run(`CREATE TABLE raced_table (id int)`)
      const read = async (name: string, schema: string) => itemsOf(await reading.page(name, [], schema))
      const ours = () => Promise.all(Array.from({ length: 8 }, () => read("ours", "sources")))
      const expected = Array.from({ length: 8 }, () => [{ at: ["2026-01-02T03:04:05Z"] }])
      expect(await ours()).toEqual(expected)
      expect(await read("raced_table", "public")).toEqual([])
      // Twice, because what the first one leaves may help the second.
      for (let round = 0; round < 2; round++) {
        await reading.run(`CREATE STATISTICS raced ON (id + linger()), (id * 2) FROM raced_table`)
        const raced = read("raced_table", "public")
        await until(() => readerRuns(`wait_event = 'PgSleep'`))
        await reading.run(`DROP STATISTICS raced`)
        expect(await raced).toEqual([])
        expect(await ours()).toEqual(expected)
      }
      expect(await rowsOf(`SELECT rolconfig FROM pg_roles WHERE rolname = '${reading.readerRole}'`)).toEqual([
        { rolconfig: null },
      ])
    },
  )

  it("leaves nothing behind in a session that reads tables of another role", { timeout }, async () => {
    // One session for each kind of read, so that exactly this one is reused.
    const alone = await openReading({ maxReaderConnections: 1, settings: { statementTimeout: 20_000 } })
    const superuser = async (sql: string) => (await alone.database.run(sql)) as ReadonlyArray<Record<string, unknown>>
    // As a program would have that keeps its own tables in the cabinet's database.
    await superuser(`CREATE TABLE public.anothers (id int PRIMARY KEY)`)
    await superuser(`INSERT INTO public.anothers VALUES (1)`)
    await superuser(`GRANT SELECT ON public.anothers TO ${alone.readerRole}`)
    const leave = `CREATE FUNCTION leave() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN
        PERFORM pg_try_advisory_lock(4244), set_config('search_path', 'nowhere', false);
        RETURN 1;
      END $$`
    const linger = `CREATE FUNCTION linger() RETURNS int LANGUAGE plpgsql IMMUTABLE AS $$
      DECLARE raced oid := (SELECT oid FROM pg_statistic_ext WHERE stxname = 'raced');
      BEGIN
        IF session_user <> '${alone.readerRole}' THEN RETURN 1; END IF;
        PERFORM public.leave();
        WHILE pg_get_statisticsobjdef(raced) IS NOT NULL LOOP
          PERFORM pg_sleep(0.01);
          EXECUTE 'SELECT FROM pg_class WHERE false';
        END LOOP;
        RETURN 1;
      END $$`
    for (const statement of [leave, linger, "CREATE TABLE raced_table (id int)"]) await alone.run(statement)
    const left = () => superuser(`SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objid = 4244`)
    // From here on the table is known, so it is not looked up before its next read.
    expect(itemsOf(await alone.page("raced_table"))).toEqual([])
    for (let round = 0; round < 2; round++) {
      await alone.run(`CREATE STATISTICS raced ON (id + linger()), (id * 2) FROM raced_table`)
      const raced = alone.page("raced_table")
      while ((await left()).length === 0) await new Promise((resolve) => setTimeout(resolve, 10))
      await alone.run(`DROP STATISTICS raced`)
      expect(itemsOf(await raced)).toEqual([])
      expect(itemsOf(await alone.page("anothers"))).toEqual([{ id: 1 }])
      expect(await left()).toEqual([])
      expect(itemsOf(await alone.page("raced_table"))).toEqual([])
    }
    await alone.close()
  })

  it("sends no message of a megabyte to the client", { timeout }, async () => {
    await reading.run(`CREATE FUNCTION shout() RETURNS int LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION '%', repeat('x', 1000000); END $$`)
    await reading.run(`CREATE VIEW shouts AS SELECT shout() AS s`)
    const answer = await reading.page("shouts")
    expect(Result.isFailure(answer) && answer.failure).toMatchObject({ code: "query_failed" })
    expect(Result.isFailure(answer) && answer.failure.message.length).toBeLessThan(3_000)
  })
})

/**
 * Exports from one snapshot: the same rows as pages, all from one moment, with limited memory, and gone when no longer
 * wanted.
 */
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import { RowSnapshots } from "@data-cabinet/core/export/RowSnapshots"
import { CursorKeys } from "@data-cabinet/core/pagination/CursorKey"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { type ParamPairs, selectionParams } from "@data-cabinet/core/selection/SelectionParams"
import { selectionPlan } from "@data-cabinet/core/selection/SelectionPlan"
import { selectionSql } from "@data-cabinet/core/selection/SelectionSql"
import { Effect, Exit, Option, Result, Scope } from "effect"
import { afterAll, assert, beforeAll, describe, expect, it } from "vitest"
import { openReading, type Reading, walk } from "../row/reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  await reading.run(`CREATE TABLE big (id int PRIMARY KEY, note text)`)
  await reading.run(`INSERT INTO big SELECT g, repeat(chr(65 + g % 26), 1000) FROM generate_series(1, 20000) g`)
})
afterAll(() => reading.close())

const opened = async (name: string, params: ParamPairs = [], live = false) => {
  const scope = Scope.makeUnsafe()
  const result = await reading.runtime.runPromise(
    ExportRows.use((exports) => exports.open({ schema: "public", name, params, live })).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.result,
    ),
  )
  const close = () => Effect.runPromise(Scope.close(scope, Exit.void))
  if (Result.isFailure(result)) await close()
  return { result, close }
}

const begin = async (name: string, params: ParamPairs = []) => {
  const { result, close } = await opened(name, params)
  const { batches, isSnapshot } = Result.getOrThrow(result)
  assert.isTrue(isSnapshot)
  const iterator = batches[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await iterator.next()
    return done === true ? null : value.texts()
  }
  const rest = async () => {
    const rows: Array<string> = []
    for (let read = await next(); read !== null; read = await next()) rows.push(...read)
    return rows
  }
  return { next, rest, close }
}

const all = async (name: string, params: ParamPairs = []) => {
  const { rest, close } = await begin(name, params)
  try {
    return await rest()
  } finally {
    await close()
  }
}

/** The code and the parameter of a refusal. */
const refusal = async (name: string, params: ParamPairs = []) => {
  const { result } = await opened(name, params)
  if (Result.isSuccess(result)) throw new Error(`${name} was exported`)
  const error = result.failure
  return [error._tag === "StoreUnavailable" ? error._tag : error.code, "param" in error ? error.param : null]
}

/** The sessions that export: the pool replaces a closed session by a new, idle one. */
const SESSIONS = `SELECT pid, state, wait_event FROM pg_stat_activity WHERE datname = current_database() AND application_name LIKE '%reader export%' AND state <> 'idle'`

const until = (what: (sessions: ReadonlyArray<Record<string, unknown>>) => boolean) =>
  expect.poll(async () => what(await reading.database.run(SESSIONS)), { timeout: 100_000 }).toBe(true)

describe("the rows of a snapshot", () => {
  it("are the same as on pages, of any type and in the same order", async () => {
    await reading.run(`CREATE TYPE mood AS ENUM ('low', 'high')`)
    await reading.run(`CREATE TABLE kinds (
      id bigint PRIMARY KEY, n numeric, f double precision, t text, at timestamptz, plain timestamp, d date, ok boolean,
      j jsonb, raw json, b bytea, list int[], m mood, span int4range, u uuid)`)
    await reading.run(`INSERT INTO kinds SELECT g, g * 1.10 + 12345678901234567890, 'NaN', CASE WHEN g % 3 = 0 THEN NULL ELSE 'ё"' || g END,
      '2026-01-01T00:00:00.5Z'::timestamptz + g * interval '1 hour', 'infinity', '2026-01-01'::date + g, g % 2 = 0,
      jsonb_build_object('a', g), '{"b": 1.10 }', '\\x00ff', ARRAY[g, NULL], 'high', '[1,5)', '00000000-0000-0000-0000-00000000000a'
      FROM generate_series(1, 2500) g`)
    await reading.run(`CREATE TABLE keyless AS SELECT id, t FROM kinds`)
    await reading.run(`CREATE VIEW seen AS SELECT ok, t, id % 7 AS rest FROM kinds`)
    await reading.run(`CREATE TABLE bare ()`)
    await reading.run(`INSERT INTO bare DEFAULT VALUES`)
    const selections: ReadonlyArray<[string, ParamPairs]> = [
      ["kinds", []],
      [
        "kinds",
        [
          ["sort", "t"],
          ["dir", "desc"],
          ["col", "t"],
          ["col", "j"],
        ],
      ],
      [
        "kinds",
        [
          ["fc", "n"],
          ["fo", "gt"],
          ["fv", "12345678901234568000.5"],
          ["hide", "b"],
          ["q", "Ё"],
        ],
      ],
      ["keyless", []],
      ["keyless", [["dir", "desc"]]],
      ["seen", []],
      [
        "seen",
        [
          ["sort", "rest"],
          ["fc", "ok"],
          ["fo", "eq"],
          ["fv", "true"],
        ],
      ],
      ["bare", []],
    ]
    for (const [name, params] of selections) {
      const { items } = await walk(reading, name, [...params, ["limit", "1000"]])
      assert.deepStrictEqual(await all(name, params), items, `${name} ${JSON.stringify(params)}`)
    }
    assert.deepStrictEqual(
      await all("kinds", [
        ["fc", "id"],
        ["fo", "lt"],
        ["fv", "0"],
      ]),
      [],
    )
  })

  it("are all from one moment, even if the table changes while they are read", async () => {
    const { next, rest, close } = await begin("big", [
      ["col", "id"],
      ["col", "note"],
    ])
    const first = (await next())!
    await reading.run(`UPDATE big SET note = 'changed' WHERE id % 2 = 0`)
    await reading.run(`DELETE FROM big WHERE id > 19990`)
    await reading.run(`INSERT INTO big SELECT g, 'new' FROM generate_series(20001, 20100) g`)
    const rows = [...first, ...(await rest())]
    await close()
    assert.strictEqual(rows.length, 20_000)
    assert.deepStrictEqual(
      rows.map((row) => (JSON.parse(row) as { id: number; note: string }).note.length),
      Array.from({ length: 20_000 }, () => 1_000),
    )
  })

  it("are from one moment even where a view's functions read them", async () => {
    await reading.run(`CREATE TABLE told (n int)`)
    await reading.run(`CREATE FUNCTION count_told() RETURNS bigint LANGUAGE plpgsql VOLATILE AS
      $$ BEGIN RETURN (SELECT count(*) FROM public.told); END $$`)
    await reading.run(
      `CREATE VIEW telling AS SELECT g, repeat('x', 1000) AS pad, public.count_told() AS told FROM generate_series(1, 5000) g`,
    )
    const { next, rest, close } = await begin("telling", [["sort", "g"]])
    const first = (await next())!
    await reading.run(`INSERT INTO told VALUES (1)`)
    const rows = [...first, ...(await rest())]
    await close()
    assert.deepStrictEqual([rows.length, rows.filter((row) => !row.endsWith(`"told":0}`)).length], [5_000, 0])
  })

  it("may be as long as a page can hold", async () => {
    await reading.run(`CREATE TABLE long (id int PRIMARY KEY, note text)`)
    await reading.run(
      `INSERT INTO long SELECT g, repeat('"', CASE WHEN g % 50 = 0 THEN 6000000 ELSE 1 END) FROM generate_series(1, 100) g`,
    )
    const rows = await all("long")
    assert.deepStrictEqual(
      rows.map((row) => (JSON.parse(row) as { note: string }).note.length).filter((length) => length > 1),
      [6_000_000, 6_000_000],
    )
    await reading.run(`INSERT INTO long VALUES (101, repeat('x', 16000000))`)
    const { rest, close } = await begin("long")
    const error = await rest().then(
      () => null,
      (thrown: unknown) => thrown as { readonly code: string; readonly message: string },
    )
    await close()
    assert.deepInclude(error, { code: "query_failed" })
    assert.match(error!.message, /15 MB/)
  })
})

describe("an unread snapshot", () => {
  it("waits in the database, and ends with its reader", async () => {
    const { next, close } = await begin("big")
    await next()
    await until((sessions) => sessions.some((session) => session["wait_event"] === "ClientWrite"))
    await close()
    await until((sessions) => sessions.length === 0)
    await reading.run(`ALTER TABLE big ADD COLUMN more int`)
  })

  it("gives its slot to a waiting export", async () => {
    const [one, other] = [await begin("big"), await begin("big")]
    const third = begin("big", [
      ["fc", "id"],
      ["fo", "le"],
      ["fv", "3"],
    ])
    await one.close()
    assert.strictEqual((await (await third).rest()).length, 3)
    await Promise.all([other.close(), (await third).close()])
    await until((sessions) => sessions.length === 0)
  })

  it("is ended by an interruption even while the database works on the first row", async () => {
    await reading.run(`CREATE VIEW asleep AS SELECT 1 AS n, pg_sleep(600)::text AS nap`)
    const end = new AbortController()
    const work = ExportRows.use((exports) =>
      exports.open({ schema: "public", name: "asleep", params: [], live: false }),
    )
    const running = reading.runtime.runPromiseExit(Effect.scoped(work), { signal: end.signal })
    await until((sessions) => sessions.some((session) => session["state"] === "active"))
    end.abort()
    assert.isTrue(Exit.isFailure(await running))
    await until((sessions) => sessions.length === 0)
  })
})

describe("what is refused", () => {
  it("is refused as for a page, before the first row", async () => {
    await reading.run(`CREATE VIEW broken AS SELECT id, 1 / (id - id) AS inverse FROM big`)
    await reading.run(`CREATE TABLE private (n int)`)
    await reading.run(`REVOKE ALL ON private FROM "${reading.readerRole}"`)
    const cases: ReadonlyArray<[string, ParamPairs, string, string | null]> = [
      ["big", [["nope", "1"]], "unknown_param", "nope"],
      ["big", [["limit", "10"]], "unknown_param", "limit"],
      ["big", [["cursor", "x"]], "unknown_param", "cursor"],
      ["big", [["sort", "nope"]], "unknown_column", "sort"],
      [
        "big",
        [
          ["fc", "id"],
          ["fo", "eq"],
          ["fv", "many"],
        ],
        "bad_fv",
        "fv",
      ],
      ["nothing", [], "no_such_table", null],
      ["private", [], "no_such_table", null],
      ["broken", [], "query_failed", null],
    ]
    for (const [name, params, code, param] of cases) {
      assert.deepStrictEqual(await refusal(name, params), [code, param], `${name} ${JSON.stringify(params)}`)
    }
    assert.deepStrictEqual(
      await all("big", [
        ["fc", "id"],
        ["fo", "eq"],
        ["fv", "7"],
        ["col", "id"],
      ]),
      ['{"id":7}'],
    )
  })

  it("cannot write, even if it tries to", async () => {
    await reading.run(`CREATE FUNCTION sly() RETURNS int LANGUAGE plpgsql AS
      $$ BEGIN SET LOCAL transaction_read_only = off; INSERT INTO public.told VALUES (2); RETURN 1; END $$`)
    await reading.run(`GRANT INSERT ON told TO PUBLIC`)
    await reading.run(`CREATE VIEW writing AS SELECT public.sly() AS n`)
    assert.deepStrictEqual(await refusal("writing"), ["query_failed", null])
    assert.deepStrictEqual(await reading.run(`SELECT count(*)::int AS n FROM told WHERE n = 2`), [{ n: 0 }])
  })

  it("includes an object changed since its lookup, before any row is read", async () => {
    await reading.run(`CREATE TABLE moving (id int PRIMARY KEY, n int)`)
    await reading.run(`INSERT INTO moving VALUES (1, 10)`)
    const outcome = (change: string) =>
      reading.runtime.runPromise(
        Effect.gen(function* () {
          const table = Option.getOrThrow(yield* Catalog.use((catalog) => catalog.find("public", "moving")))
          const selection = Result.getOrThrow(selectionParams([]))
          const plan = Result.getOrThrow(selectionPlan(selection, table, yield* CursorKeys.use((keys) => keys.key)))
          yield* Effect.promise(() => reading.run(change))
          const snapshots = yield* RowSnapshots
          const read = yield* Effect.result(fromCall((call) => snapshots.open(selectionSql(plan, "UTC"), call)))
          if (Result.isSuccess(read)) read.success.close()
          return Result.isSuccess(read) ? "read" : read.failure._tag
        }),
      )
    assert.strictEqual(await outcome(`SELECT 1`), "read")
    assert.strictEqual(await outcome(`ALTER TABLE moving ALTER COLUMN n TYPE text`), "StaleObject")
    assert.strictEqual(await outcome(`ALTER TABLE moving ADD COLUMN later int`), "StaleObject")
    assert.deepStrictEqual(await all("moving"), ['{"id":1,"n":"10","later":null}'])
  })
})

/**
 * The author creates, in `public`, an overload of every function, operator, cast and type that generated SQL names: none is
 * ever resolved in place of the intended one, in whatever session the read runs.
 */
import { RowReader } from "@data-cabinet/core/row/RowReader"
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Layer, Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { sqlMessage } from "@data-cabinet/store-pg/connection/StoreFailure"
import type { SqlError } from "effect/sql"
import { END_SESSION, IS_THERE } from "@data-cabinet/store-pg/connection/SessionEnd"
import { PROOF, tryValue, withExpectedVersion } from "@data-cabinet/store-pg/row/ReadStatement"
import { RecordPage } from "@data-cabinet/store-pg/row/RecordPage"
import { RowPage } from "@data-cabinet/store-pg/row/RowPage"
import { tableOf } from "../../../core/test/selection/tables.ts"
import { runSql } from "../../../../test/support/postgresAdmin.ts"
import { openReading, type Reading, type TextPage, withTexts } from "./reading.ts"
import { SETTINGS } from "@data-cabinet/store-pg/connection/ReaderSessions"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  for (const statement of TABLES) await reading.run(statement)
})
afterAll(() => reading.close())

const COLUMNS = [
  ["n2", "int2", "7"],
  ["n4", "int4", "-7"],
  ["n8", "int8", "9007199254740993"],
  ["num", "numeric", "0.10"],
  ["f4", "float4", "1.5"],
  ["f8", "float8", "-0.1"],
  ["b", "bool", "true"],
  ["t", "text", "'Straße Ёж'"],
  ["v", "varchar(20)", "'ab'"],
  ["c", "char(5)", "'ab'"],
  ["d", "date", "'2026-03-01'"],
  ["ts", "timestamp", "'2026-03-01 10:00:00.5'"],
  ["tz", "timestamptz", "'2026-03-01 10:00:00+03'"],
  ["j", "json", `'{"a": 1.0}'`],
  ["jb", "jsonb", `'{"a": [1, null]}'`],
  ["by", "bytea", String.raw`'\x00ff'`],
  ["u", "uuid", "'12345678-9abc-def0-1234-56789abcdef0'"],
  ["i", "inet", "'10.0.0.1'"],
  ["iv", "interval", "'1 day 2 hours'"],
  ["r", "tstzrange", "'[2026-01-01Z,2026-02-01Z)'"],
  ["p", "point", "'(1,2)'"],
  ["rc", "regclass", "'public.plain'"],
  ["na", "int4[]", "'{{1,2},{3,4}}'"],
  ["ta", "text[]", `'{a,NULL,"b c"}'`],
  ["za", "timestamptz[]", "'{2026-03-01 10:00:00+03}'"],
  ["ba", "bytea[]", String.raw`'{"\\x00ff"}'`],
  ["ua", "uuid[]", "'{12345678-9abc-def0-1234-56789abcdef0}'"],
] as const

/** Types created by the author, who may therefore create casts for them. */
const MADE = [
  ["e", "public.mood", "'sad'"],
  ["dom", "public.amount", "12.50"],
  ["co", "public.pair", "ROW(1, '2026-03-01 10:00:00Z', 'ok')"],
  ["ra", "public.span", "'[1,5)'"],
  ["ea", "public.mood[]", "'{ok,sad}'"],
  ["ca", "public.pair[]", "ARRAY[ROW(1, NULL, 'sad')::public.pair]"],
  ["fl", "public.flat", "ROW(1, 'ok')"],
  ["fa", "public.flat[]", "ARRAY[ROW(1, 'ok')::public.flat]"],
] as const

const definitions = (columns: ReadonlyArray<readonly [string, string, string]>) =>
  columns.map(([name, type]) => `${name} ${type}`).join(", ")
const values = (columns: ReadonlyArray<readonly [string, string, string]>) =>
  columns.map(([, , value]) => value).join(", ")
const nulls = (columns: ReadonlyArray<unknown>) => columns.map(() => "NULL").join(", ")

const TABLES = [
  `CREATE TYPE mood AS ENUM ('ok', 'sad')`,
  `CREATE DOMAIN amount AS numeric`,
  `CREATE TYPE pair AS (n int, at timestamptz, m public.mood)`,
  `CREATE TYPE flat AS (n int, t text)`,
  `CREATE TYPE span AS RANGE (subtype = int4)`,
  `CREATE TABLE plain (id int PRIMARY KEY)`,
  `ALTER TABLE plain ${COLUMNS.map(([name, type]) => `ADD ${name} ${type}`).join(", ")}`,
  `INSERT INTO plain VALUES (1, ${values(COLUMNS)}), (2, ${nulls(COLUMNS)}), (3, ${values(COLUMNS)})`,
  `CREATE TABLE keyless AS SELECT * FROM plain`,
  `CREATE TABLE made (id int PRIMARY KEY, ${definitions(MADE)}, t text)`,
  `INSERT INTO made VALUES (1, ${values(MADE)}, 'x'), (2, ${nulls(MADE)}, NULL), (3, ${values(MADE)}, 'y')`,
  `CREATE VIEW seen AS SELECT * FROM plain`,
  `CREATE VIEW seen_made AS SELECT * FROM made`,
  `CREATE MATERIALIZED VIEW kept AS SELECT * FROM plain`,
]

const filters = (column: string, value: string): ReadonlyArray<ParamPairs> =>
  ["eq", "gt", "contains", "empty"].map((condition) => [
    ["fc", column],
    ["fo", condition],
    ["fv", condition === "empty" ? "" : value],
  ])

/** Every kind of selection over columns with these names, each with a comparable value. */
const selections = (columns: ReadonlyArray<readonly [string, string, string]>): ReadonlyArray<ParamPairs> => [
  [],
  [["q", "ёж"]],
  [["q", "sad"]],
  [["dir", "desc"]],
  ...["d", "ts", "tz"]
    .filter((name) => columns.some(([known]) => known === name))
    .map((name): ParamPairs => [
      ["per", name],
      ["from", "2026-01-01"],
      ["to", "2026-12-31"],
    ]),
  ...columns.flatMap(([name, , value]): ReadonlyArray<ParamPairs> => [
    ...filters(name, value.replaceAll(/^ARRAY.*$|^'|'$|^ROW/g, "")),
    [["sort", name]],
    [
      ["sort", name],
      ["dir", "desc"],
      ["hide", name],
    ],
  ]),
]

/** Other paths to the same columns. */
const OTHER_WAYS: ReadonlyArray<ParamPairs> = [
  [],
  [["dir", "desc"]],
  [["q", "ёж"]],
  [["sort", "tz"]],
  [["sort", "ta"]],
  [
    ["fc", "t"],
    ["fo", "contains"],
    ["fv", "ё"],
  ],
]

/** Alternatives, and sorts in both directions. */
const several = (columns: ReadonlyArray<readonly [string, string, string]>): ParamPairs => [
  ...columns.slice(0, 8).flatMap(([name]): ParamPairs => [
    ["fc", name],
    ["fo", "notempty"],
    ["fv", ""],
    ["sort", name],
    ["dir", name < "e" ? "asc" : "desc"],
  ]),
  ["fc", "t"],
  ["fo", "eq"],
  ["fv", "x"],
  ...columns.slice(0, 8).map(() => ["fj", "or"] as const),
]

const WALKS: ReadonlyArray<readonly [table: string, selections: ReadonlyArray<ParamPairs>]> = [
  ["plain", [...selections(COLUMNS), several(COLUMNS)]],
  ["made", [...selections(MADE), several(MADE)]],
  ["keyless", OTHER_WAYS],
  ["kept", OTHER_WAYS],
  ["seen", OTHER_WAYS],
  ["seen_made", [[], [["q", "sad"]], [["sort", "e"]], [["sort", "co"]]]],
]

/** Everything that all selections find, page by page, and the statements that read it. */
const readAll = () =>
  reading.runtime.runPromise(
    Effect.gen(function* () {
      const real = yield* RowReader
      const texts = new Set<string>()
      const tap = RowReader.of({
        read: (query, call) => {
          texts.add(query.runsNoUserCode ? new RowPage(query).text : new RecordPage(query).text)
          return real.read(query, call)
        },
      })
      const rows = yield* SelectRows.pipe(
        Effect.provide(Layer.fresh(SelectRows.layer).pipe(Layer.provide(Layer.succeed(RowReader, tap)))),
      )
      const walk = Effect.fnUntraced(function* (name: string, params: ParamPairs) {
        const answers: Array<unknown> = []
        let cursor: string | null = null
        do {
          const more: ParamPairs = cursor === null ? [] : [["cursor", cursor]]
          const page: Result.Result<TextPage, unknown> = yield* fromCall((call) =>
            rows.page({ schema: "public", name, params: [...params, ["limit", "2"], ...more] }, call),
          ).pipe(withTexts, Effect.result)
          answers.push(Result.isSuccess(page) ? page.success.items : page.failure)
          cursor = Result.isSuccess(page) ? page.success.nextCursor : null
        } while (cursor !== null)
        return [`${name} ${JSON.stringify(params)}`, answers] as const
      })
      const walks = WALKS.flatMap(([name, asked]) => asked.map((params) => walk(name, params)))
      const found = Object.fromEntries(yield* Effect.all(walks, { concurrency: 6 }))
      return { found, texts: [...texts] }
    }),
  )

/** The names of PostgreSQL's own objects that the statements use, by kind. */
const namesIn = (texts: ReadonlyArray<string>) => {
  const all = (pattern: RegExp) => [
    ...new Set(texts.flatMap((text) => [...text.matchAll(pattern)].map(([, name]) => name!))),
  ]
  return {
    functions: all(/pg_catalog\.([a-z0-9_]+)\(/g),
    operators: all(/OPERATOR\("?pg_catalog"?\.([^)]+)\)/g),
    types: all(/::"?pg_catalog"?\."?([a-z0-9_]+)"?/g),
  }
}

/** The parts of a statement that name a function, an operator, a type or a collation without its schema. */
const bareNames = (text: string): ReadonlyArray<string> => {
  const bare = text
    .replaceAll(/'(?:[^']|'')*'/g, "L")
    .replaceAll(/"(?:[^"]|"")*"/g, "N")
    .replaceAll(/OPERATOR\((?:pg_catalog|N)\.[^)]+\)/g, "O")
    .replaceAll(/(N\.|count\()\*/g, "$1A")
    .replaceAll(/ -(?=\d)/g, " ")
  return [
    /(?<![.\w])(?!(?:N|ROW|coalesce|ANY|FILTER|LATERAL|AS|IN|AND|OR|NOT|ELSE|FROM|ARRAY|EXISTS)\b)[A-Za-z_]\w*\(/g,
    /::(?!(?:pg_catalog|N)\.)\S+/g,
    /(?<!DISTINCT )\b(?:FROM|JOIN) (?!\(|LATERAL |pg_catalog\.|N\b)\S+/g,
    /COLLATE (?!N\.N)\S+/g,
    /(?<!:)[-+*/<>=~!@#%^&|`?]+/g,
    /\b(?:LIKE|ILIKE|SIMILAR|BETWEEN|NULLIF|IN|OVERLAPS)\b|DISTINCT FROM (?!NULL\b)\S+/g,
  ].flatMap((pattern) => bare.match(pattern) ?? [])
}

/** The argument types of the planted overloads: all types in the tables, and those in between. */
const ARGUMENTS = [
  ...new Set([...COLUMNS, ...MADE].map(([, type]) => type.replace(/\(\d+\)/, ""))),
  "pg_catalog.name",
  "pg_catalog.oid",
  "pg_catalog.tid",
  "pg_catalog.xid",
  '"char"',
]

const trap = (signature: string, returns: string) =>
  `CREATE OR REPLACE FUNCTION public.${signature} RETURNS ${returns} LANGUAGE plpgsql IMMUTABLE AS ` +
  `$$ BEGIN RAISE EXCEPTION 'planted code ran: ${signature.replaceAll("'", "")}'; END $$`

const plants = ({ functions, operators, types }: ReturnType<typeof namesIn>): ReadonlyArray<string> => [
  ...functions.flatMap((name) => [
    trap(`${name}()`, "text"),
    trap(`${name}(VARIADIC anyarray)`, "text"),
    ...ARGUMENTS.flatMap((type) => [
      trap(`${name}(${type})`, "text"),
      ...["text", "int8", type].map((second) => trap(`${name}(${type}, ${second})`, "text")),
    ]),
  ]),
  ...ARGUMENTS.map((type) => trap(`trap(${type}, ${type})`, "boolean")),
  ...operators.flatMap((name) =>
    ARGUMENTS.map(
      (type) => `CREATE OPERATOR public.${name} (LEFTARG = ${type}, RIGHTARG = ${type}, FUNCTION = public.trap)`,
    ),
  ),
  ...["mood", "pair", "flat", "span"].flatMap((type) =>
    ["text", "json", "jsonb", "varchar"].flatMap((target) => [
      trap(`cast_${type}_${target}(public.${type})`, target),
      `CREATE CAST (public.${type} AS ${target}) WITH FUNCTION public.cast_${type}_${target} AS ASSIGNMENT`,
      trap(`cast_${target}_${type}(${target})`, `public.${type}`),
      `CREATE CAST (${target} AS public.${type}) WITH FUNCTION public.cast_${target}_${type} AS ASSIGNMENT`,
    ]),
  ),
  ...types.map((name) => `CREATE TYPE public."${name}" AS (planted int)`),
]

describe("what an author plants in public", () => {
  it("is never resolved in place of what generated SQL names, and changes no result", async () => {
    const before = await readAll()
    const names = namesIn(before.texts)
    // The corpus covers every name: a missing one would not be planted.
    expect(names.functions).toEqual(expect.arrayContaining(["to_json", "upper", "format", "record_send", "string_agg"]))
    expect(names.operators).toEqual(expect.arrayContaining(["=", "<", "~~", "||", "+", "%", "~"]))
    const around = [
      withExpectedVersion("SELECT", 0),
      PROOF,
      ...[null, `"o"."c"`].map((like) => tryValue(tableOf({}), { text: "", type: "pg_catalog.text", like })),
      SETTINGS({ a: "b" }),
      END_SESSION,
      IS_THERE,
    ]
    expect(new Set([...before.texts, ...around].flatMap(bareNames))).toEqual(new Set())
    const planting = plants(names)
    const script = planting.map(
      (statement) => `BEGIN ${statement}; EXCEPTION WHEN duplicate_function OR duplicate_object THEN NULL; END;`,
    )
    await reading.run(`DO $do$ BEGIN SET LOCAL search_path = pg_catalog, public; ${script.join("\n")} END $do$`)

    // The overloads would be used: a statement without schemas falls into the trap.
    const asReader = reading.database.urlAs(reading.readerRole)
    for (const bare of [
      `SELECT to_json(now())`,
      `SELECT id FROM public.plain WHERE t::varchar(9) = v`,
      `SELECT e::text FROM public.made`,
      `SELECT pg_catalog.to_json(e) FROM public.made`,
    ]) {
      const refusal = await runSql(asReader, bare).then(
        () => "none",
        (error: SqlError.SqlError) => sqlMessage(error),
      )
      expect(refusal, bare).toContain("planted code ran")
    }
    const after = await readAll()
    expect(after.found).toEqual(before.found)
  })
})

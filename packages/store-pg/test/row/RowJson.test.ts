import { Result } from "effect"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { itemsOf, openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
  await reading.database.run(`CREATE EXTENSION hstore SCHEMA public`)
  await reading.run(`CREATE TYPE mood AS ENUM ('sad', 'it''s "ok"')`)
  await reading.run(`CREATE TYPE pair AS (a int, "we""ird" timestamptz, b bytea)`)
  await reading.run(`CREATE TYPE nest AS (p pair, q pair[], r numeric)`)
  await reading.run(`CREATE TYPE span AS RANGE (subtype = timestamptz)`)
  await reading.run(`CREATE DOMAIN amount AS numeric(10,2) CHECK (value >= 0)`)
  await reading.run(`CREATE DOMAIN moment AS timestamptz`)
  await reading.run(`CREATE DOMAIN handle AS oid`)
  await reading.run(`CREATE TYPE owned AS (by oid, "all" oid[])`)
})
afterAll(() => reading.close())

let made = 0

/** The JSON text of one value of a type, written as SQL. */
const shown = async (value: string, type: string): Promise<string> => {
  const name = `v${(made += 1)}`
  await reading.run(`CREATE TABLE ${name} (v ${type})`)
  await reading.run(`INSERT INTO ${name} VALUES (${value})`)
  const [item] = Result.getOrThrow(await reading.page(name)).items
  return (item ?? "").slice('{"v":'.length, -1)
}

const CASES: ReadonlyArray<readonly [type: string, value: string, json: string]> = [
  ["smallint", "7", "7"],
  ["bigint", "9223372036854775807", "9223372036854775807"],
  ["numeric", "12345678901234567890.0100", "12345678901234567890.0100"],
  ["numeric(5,2)", "0.1", "0.10"],
  ["numeric", "'NaN'", '"NaN"'],
  ["numeric", "'-Infinity'", '"-Infinity"'],
  ["real", "0.1", "0.1"],
  ["float8", "1e300", "1e+300"],
  ["float8", "'Infinity'", '"Infinity"'],
  ["amount", "1.5", "1.50"],
  ["boolean", "true", "true"],
  ["text", `E'a"\\\\\\u2028\\n\\x01😀'`, '"a\\"\\\\\u2028\\n\\u0001😀"'],
  ["varchar(3)", "'ab'", '"ab"'],
  ["mood", `'it''s "ok"'`, `"it's \\"ok\\""`],
  ["date", "'2026-02-03'", '"2026-02-03"'],
  ["date", "'infinity'", '"infinity"'],
  ["date", "'0044-03-15 BC'", '"0044-03-15 BC"'],
  ["date", "'0001-12-31 BC'", '"0001-12-31 BC"'],
  ["date", "'0001-01-01'", '"0001-01-01"'],
  ["date", "'2000-02-29'", '"2000-02-29"'],
  ["date", "'1900-03-01'", '"1900-03-01"'],
  ["date", "'12026-01-01'", '"12026-01-01"'],
  ["timestamp", "'2026-02-03 04:05:06'", '"2026-02-03T04:05:06"'],
  ["timestamp", "'2026-02-03 04:05:06.120000'", '"2026-02-03T04:05:06.12"'],
  ["timestamp", "'-infinity'", '"-infinity"'],
  ["timestamptz", "'2026-02-03 04:05:06.000001+03'", '"2026-02-03T01:05:06.000001Z"'],
  ["timestamptz", "'2026-02-03 04:05:06Z'", '"2026-02-03T04:05:06Z"'],
  ["timestamptz", "'infinity'", '"infinity"'],
  ["timestamptz", "'10000-01-01 00:00Z'", '"10000-01-01T00:00:00Z"'],
  ["timestamptz", "'0044-03-15 00:00Z BC'", '"0044-03-15T00:00:00Z BC"'],
  ["timestamptz", "'0001-12-31 23:59:59.999999Z BC'", '"0001-12-31T23:59:59.999999Z BC"'],
  ["timestamptz", "'294276-12-31 23:59:59.999999Z'", '"294276-12-31T23:59:59.999999Z"'],
  ["timestamptz", "'4713-01-01 00:00Z BC'", '"4713-01-01T00:00:00Z BC"'],
  ["moment", "'2026-02-03 04:05:06+01'", '"2026-02-03T03:05:06Z"'],
  ["time", "'04:05:06.5'", '"04:05:06.5"'],
  ["timetz", "'04:05:06+03'", '"04:05:06+03"'],
  ["interval", "'1 day 02:03:04'", '"1 day 02:03:04"'],
  ["json", `'{"b" : 1.0,\n"a":[1]}'`, '{"b" : 1.0,\n"a":[1]}'],
  ["jsonb", `'{"b" : 1.0, "a":[1, null]}'`, '{"a": [1, null], "b": 1.0}'],
  ["jsonb", "'null'", "null"],
  ["bytea", "'\\xdeadbeef'", '"3q2+7w=="'],
  ["bytea", "convert_to(repeat('x', 100), 'UTF8')", `"${Buffer.from("x".repeat(100)).toString("base64")}"`],
  ["uuid", "'00000000-0000-0000-0000-00000000000a'", '"00000000-0000-0000-0000-00000000000a"'],
  ["inet", "'10.0.0.1/8'", '"10.0.0.1/8"'],
  ["macaddr", "'08:00:2b:01:02:03'", '"08:00:2b:01:02:03"'],
  ["money", "12.5", '"$12.50"'],
  ["bit(3)", "B'101'", '"101"'],
  ["xml", "'<a b=\"c\"/>'", '"<a b=\\"c\\"/>"'],
  ["tsvector", "'a b'", `"'a' 'b'"`],
  ["point", "'(1,2)'", '"(1,2)"'],
  ["int4range", "'[1,3)'", '"[1,3)"'],
  ["int4multirange", "'{[1,3),[5,6)}'", '"{[1,3),[5,6)}"'],
  ["span", `'["2026-01-01 00:00+00",)'`, '"[\\"2026-01-01 00:00:00+00\\",)"'],
  ["hstore", "'a=>1'", '"\\"a\\"=>\\"1\\""'],
  ["oid", "7", "7"],
  ["oid", "4294967295", "4294967295"],
  ["oid[]", "'{{7,NULL},{4294967295,0}}'", "[[7,null],[4294967295,0]]"],
  ["oidvector", "'1 4294967295'", "[1,4294967295]"],
  ["handle", "4294967295", "4294967295"],
  ["owned", "ROW(4294967295, ARRAY[1]::oid[])", '{"by":4294967295,"all":[1]}'],
  ["regclass", "'pg_class'::regclass", '"pg_class"'],
  ["int[]", "'{}'", "[]"],
  ["numeric[]", "'{{1.0,2.50},{NaN,NULL}}'", '[[1.0,2.50],["NaN",null]]'],
  ["text[]", `ARRAY['a"', NULL, '+00:00']`, '["a\\"",null,"+00:00"]'],
  ["date[]", "'{2026-01-02,infinity}'", '["2026-01-02","infinity"]'],
  [
    "timestamptz[]",
    "'{{2026-01-02 03:04:05+03,NULL},{infinity,2026-01-01Z}}'",
    '[["2026-01-02T00:04:05Z",null],["infinity","2026-01-01T00:00:00Z"]]',
  ],
  ["bytea[]", `'{{"\\\\xff",NULL},{"\\\\x","\\\\x00"}}'`, '[["/w==",null],["","AA=="]]'],
  ["bytea[]", `'{{{"\\\\x01"},{"\\\\x02"}},{{"\\\\x03"},{"\\\\x04"}}}'`, '[[["AQ=="],["Ag=="]],[["Aw=="],["BA=="]]]'],
  ["bytea[]", "'{}'", "[]"],
  ["mood[]", "'{sad,NULL}'", '["sad",null]'],
  ["amount[]", "'{1,2.5}'", "[1.00,2.50]"],
  ["moment[]", "'{2026-01-02 03:04:05+03}'", '["2026-01-02T00:04:05Z"]'],
  ["jsonb[]", `ARRAY['{"a":1}'::jsonb, NULL]`, '[{"a": 1},null]'],
  ["pair", "ROW(1, '2026-01-02 03:04:05+03', '\\xff')", '{"a":1,"we\\"ird":"2026-01-02T00:04:05Z","b":"/w=="}'],
  ["pair", "ROW(NULL, NULL, NULL)", '{"a":null,"we\\"ird":null,"b":null}'],
  ["pair", "NULL", "null"],
  ["pair[]", "ARRAY[ROW(1, 'infinity', NULL)::pair, NULL]", '[{"a":1,"we\\"ird":"infinity","b":null},null]'],
  [
    "nest",
    "ROW(ROW(1, NULL, '\\x00')::pair, ARRAY[ROW(2, '2026-01-01Z', NULL)::pair], 0.10)",
    '{"p":{"a":1,"we\\"ird":null,"b":"AA=="},"q":[{"a":2,"we\\"ird":"2026-01-01T00:00:00Z","b":null}],"r":0.10}',
  ],
  ["nest[]", "ARRAY[ARRAY[ROW(NULL, NULL, 1)::nest], ARRAY[NULL::nest]]", '[[{"p":null,"q":null,"r":1}],[null]]'],
]

describe("a row's JSON", () => {
  it.each(CASES)("of type %s writes %s as specified", async (type, value, json) => {
    expect(await shown(value, type)).toBe(json)
    expect(await shown("NULL", type)).toBe("null")
  })

  it("keeps columns whose names occur in the statement, or look like SQL", async () => {
    await reading.run(`CREATE TABLE names (id int PRIMARY KEY, "t" int, "r" int, "o" int, "q" int, "s" int, "j" int, "n" int, "c0" int, "p0" int,
      "bytes" int, "w" timestamptz, "a""; --" int, "ё" int, "${"x".repeat(63)}" int)`)
    await reading.run(`INSERT INTO names VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, '2026-01-01Z', 12, 13, 14)`)
    const [row] = itemsOf(
      await reading.page("names", [
        ["sort", "n"],
        ["q", "2026-01-01T00"],
      ]),
    )
    expect(Object.values(row ?? {})).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, "2026-01-01T00:00:00Z", 12, 13, 14])
    await reading.run(`CREATE VIEW names_seen AS SELECT * FROM names`)
    expect(itemsOf(await reading.page("names_seen", [["sort", "w"]]))).toEqual([row])
  })

  it("rewrites only timestamps, not texts that look like them", async () => {
    const fake = '2026-01-01T00:00:00+00:00","text":"+00:00","last":"'
    const columns = `first timestamptz, text text, doc jsonb, list text[], "we""\\ird" timestamptz, more hstore, last timestamptz`
    for (const [name, extra] of [
      ["alike", ""],
      ["alike_json", ", raw json"],
    ] as const) {
      await reading.run(`CREATE TABLE ${name} (${columns}${extra})`)
      await reading.run(
        `INSERT INTO ${name} VALUES ('2026-01-01Z', $1, $2, ARRAY[$1], '0044-01-01Z BC', hstore('last', $1), '2026-01-01 00:00:00.5Z'),
         (NULL, $1, NULL, NULL, 'infinity', NULL, NULL), ('0001-01-01Z BC', '+00:00', NULL, '{}', NULL, NULL, '0002-01-01Z BC')`,
        [fake, JSON.stringify({ first: fake, text: "+00:00", "": { last: "+00:00" } })],
      )
      if (extra !== "") await reading.run(`UPDATE ${name} SET raw = $1::json`, [`{"first":"x+00:00","text":"+00:00"}`])
      const raw = extra === "" ? {} : { raw: { first: "x+00:00", text: "+00:00" } }
      expect(itemsOf(await reading.page(name))).toEqual([
        {
          first: "2026-01-01T00:00:00Z",
          text: fake,
          doc: { first: fake, text: "+00:00", "": { last: "+00:00" } },
          list: [fake],
          'we"\\ird': "0044-01-01T00:00:00Z BC",
          more: expect.stringContaining("+00:00"),
          last: "2026-01-01T00:00:00.5Z",
          ...raw,
        },
        { first: null, text: fake, doc: null, list: null, 'we"\\ird': "infinity", more: null, last: null, ...raw },
        {
          first: "0001-01-01T00:00:00Z BC",
          text: "+00:00",
          doc: null,
          list: [],
          'we"\\ird': null,
          more: null,
          last: "0002-01-01T00:00:00Z BC",
          ...raw,
        },
      ])
    }
  })

  it("shows fifteen hundred columns", async () => {
    const columns = Array.from({ length: 1_500 }, (_, index) => `c${index} int`)
    await reading.run(`CREATE TABLE wide (${columns.join(", ")})`)
    await reading.run(`INSERT INTO wide (c1499) VALUES (1)`)
    const [row] = itemsOf(await reading.page("wide"))
    expect(Object.keys(row ?? {}).length).toBe(1_500)
    expect(row?.["c1499"]).toBe(1)
  })
})

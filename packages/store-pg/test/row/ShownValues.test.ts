/** Values are found by their displayed form: without padding, as base64, as JSON, and in any Unicode composition. */
import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { Effect } from "effect"
import { foldCase } from "@data-cabinet/core/text/LetterCase"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { randomFrom } from "./random.ts"
import { itemsOf, openReading, type Reading, walk } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
})
afterAll(() => reading.close())

const filter = (fc: string, fo: string, fv: string): ParamPairs => [
  ["fc", fc],
  ["fo", fo],
  ["fv", fv],
]

const found = async (name: string, params: ParamPairs) =>
  itemsOf(await reading.page(name, [...params, ["limit", "1000"]]))
    .map(({ n }) => Number(n))
    .toSorted((a, b) => a - b)

describe("character(n)", () => {
  it("is shown, found and compared without its padding, alone and within other types", async () => {
    await reading.run(`CREATE DOMAIN code AS char(5)`)
    await reading.run(`CREATE TYPE coded AS (c char(5), d code)`)
    await reading.run(
      `CREATE TABLE padded (n int PRIMARY KEY, c char(5), d code, list char(5)[], dlist code[], pair coded)`,
    )
    await reading.run(
      `INSERT INTO padded VALUES (1, 'a b', 'a b', '{a b,c}', '{a b,c}', ('a b', 'c')), (2, '', '', '{}', '{}', NULL)`,
    )
    await reading.run(`CREATE VIEW padded_view AS SELECT * FROM padded`)
    for (const name of ["padded", "padded_view"]) {
      const [first, second] = itemsOf(await reading.page(name))
      expect(first).toEqual({
        n: 1,
        c: "a b",
        d: "a b",
        list: ["a b", "c"],
        dlist: ["a b", "c"],
        pair: { c: "a b", d: "c" },
      })
      expect(second).toMatchObject({ c: "", d: "", list: [], dlist: [] })
      for (const column of ["c", "d"]) {
        expect(await found(name, filter(column, "eq", "a b"))).toEqual([1])
        expect(await found(name, filter(column, "contains", "A B"))).toEqual([1])
        expect(await found(name, filter(column, "contains", "b "))).toEqual([])
        expect(await found(name, filter(column, "empty", ""))).toEqual([2])
        const { items } = await walk(reading, name, [
          ["sort", column],
          ["limit", "1"],
        ])
        expect(items.map((item): unknown => JSON.parse(item).n)).toEqual([2, 1])
      }
      for (const shown of ['["a b","c"]', '{"c":"a b"', '"d":"c"}']) {
        expect(await found(name, [["q", shown]]), shown).toEqual([1])
      }
      expect(await found(name, filter("list", "eq", '["a b","c"]'))).toEqual([1])
    }
  })
})

describe("bytea", () => {
  it("is compared with base64, as shown, and with nothing else", async () => {
    await reading.run(`CREATE TABLE bytes (n int PRIMARY KEY, b bytea)`)
    await reading.run(`INSERT INTO bytes VALUES (1, '\\x'), (2, '\\x00ff'), (3, '\\xdeadbeef')`)
    for (const item of itemsOf(await reading.page("bytes"))) {
      expect(await found("bytes", filter("b", "eq", String(item["b"])))).toEqual([item["n"]])
    }
    expect(await found("bytes", filter("b", "ge", "AP8="))).toEqual([2, 3])
    for (const value of ["\\x00ff", "AP8", "AP8==", "no base64"]) {
      expect(await reading.page("bytes", filter("b", "eq", value))).toMatchObject({
        failure: { code: "bad_fv", param: "fv", message: expect.stringContaining("base64") as unknown },
      })
    }
  })
})

describe("an array", () => {
  it("is compared with both its displayed form and PostgreSQL's", async () => {
    await reading.run(`CREATE TYPE tagged AS (name text, tags text[])`)
    const columns: ReadonlyArray<readonly [type: string, values: ReadonlyArray<string>]> = [
      ["int[]", ["{}", "{1,2}", "{{1,2},{3,4}}", "{NULL,5}"]],
      ["text[]", ["{}", '{a,"b \\"c\\\\"}', "{{x},{y}}", '{NULL,"NULL",""}']],
      ["numeric[]", ["{}", "{0.10}", "{12345678901234567890}", "{NaN}"]],
      ["timestamptz[]", ["{}", '{"2026-01-01 00:00:00.5+00"}', "{infinity}", "{NULL}"]],
      ["bytea[]", ["{}", '{"\\\\x00"}', '{"\\\\xff","\\\\x"}', "{NULL}"]],
      ["boolean[]", ["{}", "{t,f}", "{t}", "{NULL}"]],
      ["jsonb[]", ["{}", '{"{\\"a\\": 1.0}"}', '{"[1, 2]"}', '{"\\"x\\""}']],
      ["tagged[]", ["{}", '{"(a,\\"{b,\\"\\"c d\\"\\"}\\")"}', '{"(,)"}', '{"(\\"x,y\\",{})"}']],
    ]
    await reading.run(
      `CREATE TABLE lists (n int PRIMARY KEY, ${columns.map(([type], at) => `c${at} ${type}`).join(", ")})`,
    )
    for (const [n] of [0, 1, 2, 3].entries()) {
      const values = columns.map(([type, of]) => `'${of[n]}'::${type}`)
      await reading.run(`INSERT INTO lists VALUES (${[n, ...values].join(", ")})`)
    }
    const { items } = await walk(reading, "lists", [])
    for (const [at, [type, values]] of columns.entries()) {
      for (const [n, value] of values.entries()) {
        const shown = JSON.stringify(JSON.parse(items[n]!)[`c${at}`])
        // The digits of a number as they were sent.
        const json = type === "numeric[]" && n === 2 ? "[12345678901234567890]" : shown
        expect(await found("lists", filter(`c${at}`, "eq", json)), `${type} ${json}`).toEqual([n])
        expect(await found("lists", filter(`c${at}`, "eq", value)), `${type} ${value}`).toEqual([n])
      }
    }
    for (const value of ['["x"', '["x"]', "[{}]", "[1.5]", "{1"]) {
      expect(await reading.page("lists", filter("c0", "eq", value)), value).toMatchObject({
        failure: { code: "bad_fv" },
      })
    }
  })
})

describe("a composite value", () => {
  it("is compared with both its displayed form and PostgreSQL's", async () => {
    await reading.run(`CREATE TYPE amount AS (value numeric, currency text)`)
    await reading.run(`CREATE DOMAIN price AS amount`)
    await reading.run(`CREATE TYPE described AS (title text, flags boolean[], raw bytea, at timestamptz, price amount)`)
    await reading.run(`CREATE TABLE nested (n int PRIMARY KEY, a amount, p price, l described)`)
    const rows = [
      ["(0.10,EUR)", "(1,)", '("a, ""b"" \\\\ (c)","{t,NULL}","\\\\x00ff","2026-01-01 00:00:00.5+00","(NaN,x)")'],
      ["(12345678901234567890,)", "(,)", "(,,,infinity,)"],
      ['(,"")', '(2,"{}")', '("[""q""]",{},"\\\\x",,"(,)")'],
    ]
    for (const [n, values] of rows.entries()) {
      await reading.run(`INSERT INTO nested VALUES ($1::int, $2::amount, $3::price, $4::described)`, [n, ...values])
    }
    await reading.run(`CREATE VIEW nested_view AS SELECT * FROM nested`)
    for (const name of ["nested", "nested_view"]) {
      const { items } = await walk(reading, name, [["sort", "n"]])
      for (const [n, values] of rows.entries()) {
        for (const [at, column] of ["a", "p", "l"].entries()) {
          // As the item shows it, digits included.
          const shown = new RegExp(`"${column}":(\\{.*?\\})(?:,"[pl]":|\\}$)`).exec(items[n]!)![1]!
          for (const value of [shown, ` ${shown}`, values[at]!]) {
            expect(await found(name, filter(column, "eq", value)), `${column} ${value}`).toEqual([n])
          }
        }
      }
      expect(await found(name, filter("a", "gt", '{"value":1}'))).toEqual([1, 2])
      for (const value of ['{"value":1,"other":2}', '{"value":"x"}', '{"value":1', "{}x", "[1]"]) {
        expect(await reading.page(name, filter("a", "eq", value)), value).toMatchObject({ failure: { code: "bad_fv" } })
      }
    }
  })
})

describe("a value whose cast to text is not what is shown", () => {
  it("is found by what is shown, in tables and views, with a search index and without", async () => {
    await reading.run(`CREATE DOMAIN consent AS boolean`)
    await reading.run(`CREATE TABLE casts (n int PRIMARY KEY, yes consent, plain boolean, address inet)`)
    await reading.run(
      `INSERT INTO casts VALUES (1, true, false, '10.0.0.1'), (2, false, true, '10.0.0.2/8'), (3, NULL, NULL, '::1')`,
    )
    await reading.run(`CREATE VIEW casts_view AS SELECT * FROM casts`)
    const check = async (name: string) => {
      for (const [column, sought, rows] of [
        ["yes", "true", [1]],
        ["yes", "ALS", [2]],
        ["plain", "true", [2]],
        ["address", "/", [2]],
        ["address", "10.0.0.", [1, 2]],
      ] as const) {
        expect(await found(name, filter(column, "contains", sought)), `${column} ${sought}`).toEqual(rows)
      }
      expect(await found(name, [["q", "/32"]])).toEqual([])
      expect(await found(name, [["q", "false"]])).toEqual([1, 2])
    }
    await check("casts")
    await check("casts_view")
    await reading.runtime.runPromise(SearchIndex.use((port) => port.build("public", "casts")).pipe(Effect.orDie))
    await check("casts")
  })
})

describe("a vector of the catalogs", () => {
  it("is compared with both its displayed form and PostgreSQL's", async () => {
    await reading.run(`CREATE TABLE vectors (n int PRIMARY KEY, i int2vector, o oidvector)`)
    await reading.run(`INSERT INTO vectors VALUES (1, '1 2', '3 4'), (2, '', '5')`)
    for (const [column, value, rows] of [
      ["i", "[1,2]", [1]],
      ["i", "1 2", [1]],
      ["i", "[]", [2]],
      ["o", "[3, 4]", [1]],
    ] as const) {
      expect(await found("vectors", filter(column, "eq", value)), value).toEqual(rows)
    }
    expect(await reading.page("vectors", filter("i", "eq", '["x"]'))).toMatchObject({ failure: { code: "bad_fv" } })
  })
})

/** Composed, decomposed, and composed in part, as old Vietnamese keyboards write. */
const FORMS = [(text: string) => text.normalize("NFC"), (text: string) => text.normalize("NFD"), (text: string) => text]

const TEXTS = [
  "Йошкар-Ола",
  "ёлка",
  "Zoë",
  "Å",
  "cafe\u0301",
  "Vie\u0323\u0302t",
  "Vi\u00ea\u0323t",
  "한글",
  "ά",
  "e",
  "plain",
  "Å",
  "\u0301x",
]
const SOUGHT = [...TEXTS, "йошкар", "ё", "Е", "e", "E\u0302", "ệ", "ê", "t", "\u0301", "한", "kar", "ZOË"]

describe("a letter that looks the same", () => {
  it("is found by q and contains in any form, and its stored value stays as it is", async () => {
    await reading.run(`CREATE TABLE letters (n int PRIMARY KEY, t text, doc jsonb, list text[])`)
    await reading.run(`CREATE TABLE indexed (n int PRIMARY KEY, t text, doc jsonb, list text[])`)
    const random = randomFrom(3)
    const rows = Array.from({ length: 90 }, (_, n) => {
      const text = random.pick(FORMS)(`${random.pick(TEXTS)} ${random.pick(TEXTS)}`)
      return [n, text, JSON.stringify({ k: text }), [text]] as const
    })
    for (const name of ["letters", "indexed"]) {
      for (const row of rows) await reading.run(`INSERT INTO ${name} VALUES ($1::int, $2, $3::jsonb, $4::text[])`, row)
    }
    await reading.database.run(`ALTER ROLE "${reading.readerRole}" SET enable_seqscan = off`)
    const built = await reading.runtime.runPromise(
      SearchIndex.use((port) => port.build("public", "indexed")).pipe(Effect.orDie),
    )
    expect(built.built).toBe(true)
    for (const sought of SOUGHT) {
      const expected = rows.filter(([, text]) => foldCase(text).includes(foldCase(sought))).map(([n]) => n)
      for (const form of FORMS) {
        const about = JSON.stringify(form(sought))
        expect(await found("letters", [["q", form(sought)]]), about).toEqual(expected)
        expect(await found("indexed", [["q", form(sought)]]), about).toEqual(expected)
        for (const column of ["t", "doc", "list"]) {
          expect(await found("letters", filter(column, "contains", form(sought))), `${column} ${about}`).toEqual(
            expected,
          )
        }
      }
    }
    const { items } = await walk(reading, "letters", [])
    expect(items.map((item): unknown => JSON.parse(item).t)).toEqual(rows.map(([, text]) => text))
  })
})

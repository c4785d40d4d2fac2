import type { ParamPairs } from "@data-cabinet/core/selection/SelectionParams"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { type Random, randomFrom } from "./random.ts"
import { itemsOf, openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading({ settings: { timeZone: "America/New_York" } })
})
afterAll(() => reading.close())

/** A row as the model keeps it; PostgreSQL's results are compared with plain TypeScript. */
interface Row {
  readonly id: number
  readonly int: number | null
  readonly num: string | null
  readonly text: string | null
  readonly flag: boolean | null
  readonly day: string | null
  readonly doc: string | null
}

const TEXTS = ["", "Ёж", "ёЖик", "100%", "1_0", "a\\b", "A'b\"c", "ΑΣ", "ας", "x\u2028y", "😀", "null"]
const DOCS = ['"x"', "null", "{}", "[]", '""', '{"a": 1}', "[0]"]

const randomRow = (random: Random, id: number): Row => {
  const or = <A>(make: () => A): A | null => (random.chance(0.2) ? null : make())
  return {
    id,
    int: or(() => random.below(5) - 2),
    num: or(() => random.pick(["0.10", "0.1", "1.5", "-2", "12345678901234567890"])),
    text: or(() => random.pick(TEXTS)),
    flag: or(() => random.chance(0.5)),
    day: or(() => `2026-0${1 + random.below(3)}-1${random.below(3)}`),
    doc: or(() => random.pick(DOCS)),
  }
}

type Column = Exclude<keyof Row, "id">

const shownText = (row: Row, column: Column | "id"): string | null => {
  const value = row[column]
  return value === null ? null : String(value)
}

/** Exact, unlike a double. */
const hundredths = (number: string): bigint => {
  const [whole = "", fraction = ""] = number.split(".")
  return BigInt(whole + fraction.padEnd(2, "0"))
}

const compare = (column: Column, a: string, b: string): number => {
  if (column === "int" || column === "num") {
    const [left, right] = [hundredths(a), hundredths(b)]
    return left === right ? 0 : left < right ? -1 : 1
  }
  return a === b ? 0 : Buffer.compare(Buffer.from(a), Buffer.from(b))
}

const has = (text: string | null, sought: string) => text !== null && text.toUpperCase().includes(sought.toUpperCase())

const EMPTY: Partial<Record<Column, ReadonlyArray<string>>> = { text: [""], doc: ["null", "{}", "[]", '""'] }

const holds = (row: Row, column: Column, condition: string, value: string): boolean => {
  const of = shownText(row, column)
  const empty = of === null || (EMPTY[column] ?? []).includes(of)
  switch (condition) {
    case "empty":
      return empty
    case "notempty":
      return !empty
    case "contains":
      return has(of, value)
    case "ne":
      return of === null || compare(column, of, value) !== 0
  }
  if (of === null) return false
  const order = compare(column, of, value)
  return { eq: order === 0, gt: order > 0, ge: order >= 0, lt: order < 0, le: order <= 0 }[condition] ?? false
}

const CONDITIONS = ["eq", "ne", "gt", "ge", "lt", "le", "contains", "empty", "notempty"]
const SOUGHT = ["ё", "%", "_", "\\", "'", "σ", "A", "10", "", "\u2028", "e", '"', "201"]

const valueFor = (random: Random, column: Column, condition: string): string => {
  if (condition === "empty" || condition === "notempty") return ""
  if (condition === "contains") return random.pick(SOUGHT)
  const values = {
    int: ["0", "1", "-3"],
    num: ["0.1", "1.50", "12345678901234567891"],
    text: TEXTS,
    flag: ["true", "false"],
    day: ["2026-01-10", "2026-02-11"],
    doc: ["{}"],
  }
  return random.pick(values[column])
}

describe("a selection of rows", () => {
  it("finds the same rows as a simple model of the rules", async () => {
    const random = randomFrom(7)
    const rows = Array.from({ length: 120 }, (_, id) => randomRow(random, id))
    await reading.run(
      `CREATE TABLE model (id int PRIMARY KEY, int int, num numeric, text text COLLATE "C", flag boolean, day date, doc jsonb)`,
    )
    await reading.run(`INSERT INTO model SELECT * FROM json_populate_recordset(NULL::model, $1::json)`, [
      `[${rows.map((row) => JSON.stringify({ ...row, doc: "@" }).replace('"@"', row.doc ?? "null")).join(",")}]`,
    ])
    // json_populate_recordset reads a JSON null as NULL, so rows that mean the JSON value are set separately.
    await reading.run(`UPDATE model SET doc = 'null' WHERE id = ANY ($1::int[])`, [
      rows.filter((row) => row.doc === "null").map((row) => row.id),
    ])
    for (let round = 0; round < 400; round++) {
      const filters = Array.from({ length: random.below(3) }, () => {
        const column = random.pick<Column>(["int", "num", "text", "flag", "day", "doc"])
        const condition = random.pick(column === "doc" ? ["empty", "notempty", "contains"] : CONDITIONS)
        return { column, condition, value: valueFor(random, column, condition) }
      })
      const q = random.chance(0.3) ? random.pick(SOUGHT) : ""
      const params: ParamPairs = [
        ...filters.map(({ column }) => ["fc", column] as const),
        ...filters.map(({ condition }) => ["fo", condition] as const),
        ...filters.map(({ value }) => ["fv", value] as const),
        ...(q === "" ? [] : [["q", q] as const]),
        ["hide", "doc"],
        ["limit", "1000"],
      ]
      const expected = rows
        .filter((row) => filters.every(({ column, condition, value }) => holds(row, column, condition, value)))
        .filter((row) => q === "" || Object.keys(row).some((column) => has(shownText(row, column as Column), q)))
        .map(({ id }) => id)
      expect(
        itemsOf(await reading.page("model", params)).map((item) => item["id"]),
        JSON.stringify(params),
      ).toEqual(expected)
    }
  })

  it("refuses clock words as values of every type for which PostgreSQL accepts them, and of no other", async () => {
    await reading.run(`CREATE DOMAIN day AS date`)
    await reading.run(`CREATE TYPE shift AS RANGE (subtype = time)`)
    await reading.run(`CREATE TYPE stay AS (guest text, nights daterange)`)
    // The same as pg_input_is_valid, which exists from version 16 on.
    await reading.run(
      `CREATE FUNCTION reads(value text, type text) RETURNS boolean LANGUAGE plpgsql AS $$
         BEGIN
           EXECUTE format('SELECT %L::%s', value, type);
           RETURN true;
         EXCEPTION WHEN others THEN RETURN false;
         END $$`,
    )
    const built = await reading.database.run(
      `WITH t AS MATERIALIZED (
         SELECT format_type(t.oid, NULL) AS type FROM pg_type t
         JOIN pg_opclass k ON k.opcintype = t.oid AND k.opcdefault
         JOIN pg_am am ON am.oid = k.opcmethod AND am.amname = 'btree'
         WHERE t.typtype = 'b')
       SELECT type FROM t WHERE reads('today', type) AND NOT reads('toady', type)`,
    )
    const types: ReadonlyArray<readonly [type: string, value: string]> = [
      ...built.map(({ type }) => [String(type), "today"] as const),
      ["time", "allballs"],
      ["day", " NOW "],
      ["date[]", "{2026-01-01,today}"],
      ["day[]", "{{tomorrow}}"],
      ["daterange", "[yesterday,)"],
      ["tstzmultirange", "{[2026-01-01,now]}"],
      ["shift", "[now,24:00)"],
      ["stay", '(today,"[today,)")'],
      ["stay[]", '{"(today,\\"[today,)\\")"}'],
    ]
    expect(types.map(([type]) => type)).toEqual(
      expect.arrayContaining(["date", "timestamp without time zone", "timestamp with time zone"]),
    )
    await reading.run(`CREATE TABLE clocks (${types.map(([type], index) => `c${index} ${type}`).join(", ")}, t text)`)
    const asked = (column: string, value: string) =>
      reading.page("clocks", [
        ["fc", column],
        ["fo", "ge"],
        ["fv", value],
      ])
    for (const [index, [type, value]] of types.entries()) {
      expect(await asked(`c${index}`, value), type).toMatchObject({ failure: { code: "bad_fv", param: "fv" } })
    }
    await reading.run(`CREATE TABLE calm (d date, r daterange, s stay, w text)`)
    await reading.run(`INSERT INTO calm VALUES ('infinity', '[2026-01-01,infinity]', ('today', NULL), 'today')`)
    for (const [column, value] of [
      ["d", "infinity"],
      ["r", "[2026-01-01,infinity]"],
      ["s", "(today,)"],
      ["w", "today"],
    ] as const) {
      const found = await reading.page("calm", [
        ["fc", column],
        ["fo", "eq"],
        ["fv", value],
      ])
      expect(itemsOf(found).length, column).toBe(1)
    }
  })

  it("reads a period from midnight to midnight of the cabinet's zone, even for days of 23 or 25 hours", async () => {
    await reading.run(`CREATE TABLE times (id int PRIMARY KEY, tz timestamptz, ts timestamp, d date)`)
    // New York: clocks go forward on 2026-03-08 and back on 2026-11-01.
    await reading.run(`INSERT INTO times VALUES
      (1, '2026-03-08 04:59:59.999999Z', '2026-03-07 23:59:59.999999', '2026-03-07'),
      (2, '2026-03-08 05:00:00Z', '2026-03-08', '2026-03-08'),
      (3, '2026-03-09 03:59:59.999999Z', '2026-03-08 23:59:59.999999', '2026-03-08'),
      (4, '2026-03-09 04:00:00Z', '2026-03-09', '2026-03-09'),
      (5, '2026-11-02 04:59:59Z', '2026-11-01 23:59:59', '2026-11-01'),
      (6, '2026-11-02 05:00:00Z', '2026-11-02', '2026-11-02'),
      (7, NULL, NULL, NULL), (8, 'infinity', 'infinity', 'infinity')`)
    const ids = async (...params: ParamPairs) => itemsOf(await reading.page("times", params)).map(({ id }) => id)
    for (const per of ["tz", "ts", "d"]) {
      expect(await ids(["per", per], ["from", "2026-03-08"], ["to", "2026-03-08"]), per).toEqual([2, 3])
      expect(await ids(["per", per], ["from", "2026-11-01"], ["to", "2026-11-01"]), per).toEqual([5])
      expect(await ids(["per", per], ["from", "2026-11-01"]), per).toEqual([5, 6, 8])
      expect(await ids(["per", per], ["to", "2026-03-07"]), per).toEqual([1])
      expect(await ids(["per", per]), per).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
      expect(await ids(["per", per], ["to", "9999-12-31"]), per).toEqual([1, 2, 3, 4, 5, 6])
    }
  })

  it("compares by the type's own order and equality, whoever defined the type", async () => {
    await reading.database.run(`CREATE SCHEMA ext`)
    await reading.database.run(`CREATE EXTENSION citext SCHEMA ext`)
    await reading.database.run(`GRANT USAGE ON SCHEMA ext TO PUBLIC`)
    await reading.run(`CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')`)
    await reading.run(
      `CREATE TABLE typed (id int PRIMARY KEY, c ext.citext, m mood, j jsonb, b bit(3), p char(4), r int4range)`,
    )
    await reading.run(
      `INSERT INTO typed VALUES (1, 'Ab', 'sad', '{"a": 1.0}', '101', 'x', '[1,3)'), (2, 'B', 'happy', '2', '011', 'y', 'empty')`,
    )
    const ids = async (...params: ParamPairs) => itemsOf(await reading.page("typed", params)).map(({ id }) => id)
    expect(await ids(["fc", "c"], ["fo", "eq"], ["fv", "aB"])).toEqual([1])
    expect(await ids(["fc", "c"], ["fo", "ne"], ["fv", "AB"])).toEqual([2])
    expect(await ids(["fc", "m"], ["fo", "gt"], ["fv", "ok"])).toEqual([2])
    expect(await ids(["fc", "j"], ["fo", "eq"], ["fv", ' {"a":1} '])).toEqual([1])
    expect(await ids(["fc", "b"], ["fo", "eq"], ["fv", "101"])).toEqual([1])
    expect(await ids(["fc", "p"], ["fo", "eq"], ["fv", "x"])).toEqual([1])
    expect(await ids(["fc", "r"], ["fo", "eq"], ["fv", "[1,2]"])).toEqual([1])
  })
})

/** Exports in every format, read back with other programs' readers: every value equals the one in the database. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { tmpdir } from "node:os"
import { DuckDBInstance, type DuckDBConnection } from "@duckdb/node-api"
import * as Xlsx from "@e965/xlsx"
import { parse } from "csv-parse/sync"
import { openCabinet, type Cabinet, type ExportOptions, type Selection } from "data-cabinet"
import { asyncBufferFromFile, parquetReadObjects } from "hyparquet"
import { afterAll, assert, beforeAll, expect, it } from "vitest"
import { compressors } from "../support/exportReaders.ts"
import { withDatabase } from "../support/postgres.ts"

const database = withDatabase({ empty: true })
let cabinet: Cabinet
let dir: string
let duck: DuckDBConnection

/** Hostile, large and exact values, NULL in every column, and enough rows for several groups. */
const KINDS = `
CREATE TABLE public.kinds (
  id bigint PRIMARY KEY, small smallint, n numeric, money numeric(30,2), f double precision, r real, note text, at timestamptz,
  plain timestamp, d date, ok boolean, j jsonb, raw json, b bytea, list int[], u uuid);
INSERT INTO public.kinds SELECT g, g % 1000, g * 1.10 + 12345678901234567890, -g * 1.01 - 1234567890123456789012345, g / 7.0, (g / 7.0)::real,
  CASE g % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '=1+"x",' || chr(10) || 'ё😀' WHEN 3 THEN '_x0041_' || chr(1) || chr(65535) || ' ' ELSE 'note ' || g END,
  '2026-01-01T00:00:00.000001Z'::timestamptz + g * interval '1 hour', '1890-12-31T23:59:59.5'::timestamp + g * interval '1 day',
  '1890-01-01'::date + g, g % 2 = 0, jsonb_build_object('a', 1.10, 'b', ARRAY[g]), '{"b": 1.10, "a": 12345678901234567890}',
  decode('00ff', 'hex') || int4send(g), ARRAY[g, NULL], '00000000-0000-0000-0000-00000000000a' FROM generate_series(1, 60000) g;
INSERT INTO public.kinds (id) VALUES (0);
CREATE TABLE public.odd (id int PRIMARY KEY, n numeric, money numeric(10,2), d date, at timestamptz, f double precision, note text);
INSERT INTO public.odd VALUES (1, 1.25, 1.25, '2026-01-01', '2026-01-01T00:00:00Z', 'NaN', 'x');
`

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "dc-export-"))
  cabinet = await openCabinet({ databaseUrl: database.url, log: { warn: () => {}, error: () => {} } })
  await cabinet.sql(KINDS)
  await database.run(`SELECT 1`)
  duck = await (await DuckDBInstance.create(":memory:")).connect()
})
afterAll(async () => {
  duck.closeSync()
  await cabinet.close()
  rmSync(dir, { recursive: true, force: true })
})

const exported = async (object: string, selection: Selection, options: ExportOptions): Promise<string> => {
  const pieces: Array<Uint8Array> = []
  for await (const piece of cabinet.export(object, selection, options)) pieces.push(piece)
  const file = join(dir, `export.${options.format}`)
  writeFileSync(file, Buffer.concat(pieces))
  return file
}

const query = async (sql: string) => (await duck.runAndReadAll(sql)).getRowObjectsJson()
/** The values as PostgreSQL's own texts. */
const texts = (columns: string) => database.run(`SELECT ${columns} FROM public.kinds ORDER BY kinds.id`)

const PARQUET = `
  id::text AS id, small::text AS small, n AS n, money::text AS money, f::text AS f, note AS note, epoch_us("at")::text AS "at",
  epoch_us(plain)::text AS plain, (d - DATE '1970-01-01')::text AS d, ok::text AS ok, raw::text AS raw, hex(b) AS b, list::text AS list, u AS u`
const POSTGRES = `
  id::text, small::text, n::text, money::text, f::text, note, (extract(epoch FROM at) * 1000000)::bigint::text AS at,
  (extract(epoch FROM plain) * 1000000)::bigint::text AS plain, (d - DATE '1970-01-01')::text AS d, ok::text, raw::text, upper(encode(b, 'hex')) AS b,
  replace(array_to_json(list)::text, ' ', '') AS list, u::text`

it("Parquet has every value, read by DuckDB", async () => {
  const file = await exported("public.kinds", { sort: "id" }, { format: "parquet" })
  const types = await query(`SELECT column_name AS name, column_type AS type FROM (DESCRIBE SELECT * FROM '${file}')`)
  assert.deepStrictEqual(Object.fromEntries(types.map(({ name, type }) => [name, type])), {
    id: "BIGINT",
    small: "INTEGER",
    n: "VARCHAR",
    money: "DECIMAL(30,2)",
    f: "DOUBLE",
    r: "FLOAT",
    note: "VARCHAR",
    at: "TIMESTAMP WITH TIME ZONE",
    plain: "TIMESTAMP",
    d: "DATE",
    ok: "BOOLEAN",
    j: "JSON",
    raw: "JSON",
    b: "BLOB",
    list: "JSON",
    u: "VARCHAR",
  })
  const [found, expected] = [await query(`SELECT ${PARQUET} FROM '${file}'`), await texts(POSTGRES)]
  assert.strictEqual(found.length, 60_001)
  for (const [at, row] of expected.entries()) {
    const ours = found[at] as Record<string, unknown>
    // Both print the shortest digits of a double, except for the ending of whole numbers.
    assert.strictEqual(Number(ours["f"]), Number(row["f"]))
    assert.deepStrictEqual({ ...ours, f: row["f"] }, { ...row }, `row ${at}`)
  }
  const groups = await query(`SELECT count(DISTINCT row_group_id)::int AS n FROM parquet_metadata('${file}')`)
  assert.isAbove(Number(groups[0]!["n"]), 1)
  // Found through the statistics of the groups.
  const [few] = await query(
    `SELECT count(*)::int AS n FROM '${file}' WHERE money < -1234567890123456789072940.00 AND id > 0`,
  )
  const [truly] = await database.run(
    `SELECT count(*)::int AS n FROM public.kinds WHERE money < -1234567890123456789072940.00`,
  )
  assert.deepStrictEqual(few, truly as typeof few)
  // The next group does not overwrite the statistics of texts.
  assert.deepStrictEqual(await query(`SELECT id::int AS id FROM '${file}' WHERE n = '12345678901234567891.10'`), [
    { id: 1 },
  ])
})

it("Parquet has every value, read by hyparquet", async () => {
  const file = await exported("public.kinds", { fc: "id", fo: "le", fv: 50, sort: "id" }, { format: "parquet" })
  const rows = await parquetReadObjects({ file: await asyncBufferFromFile(file), utf8: false, compressors })
  const expected = await texts(`id, n::text, note, ok, at, d::text`)
  assert.strictEqual(rows.length, 51)
  for (const [at, row] of rows.entries()) {
    assert.deepStrictEqual(
      [row["n"], row["note"], row["ok"], row["d"]?.toISOString().slice(0, 10) ?? null, String(row["id"])],
      [expected[at]!["n"], expected[at]!["note"], expected[at]!["ok"], expected[at]!["d"], String(expected[at]!["id"])],
    )
  }
})

it("Parquet has decimals where requested, and fails at the first value that is not one", async () => {
  const file = await exported(
    "public.odd",
    {},
    { format: "parquet", decimals: { n: { precision: 6, scale: 3 } }, texts: ["money"] },
  )
  assert.deepStrictEqual(
    await query(`SELECT n::text AS n, typeof(n) AS t, money, typeof(money) AS u, isnan(f)::text AS f FROM '${file}'`),
    [{ n: "1.250", t: "DECIMAL(6,3)", money: "1.25", u: "VARCHAR", f: "true" }],
  )
  const failing = (options: Omit<ExportOptions, "format">) =>
    exported("public.odd", {}, { format: "parquet", ...options })
  await expect(failing({ decimals: { n: { precision: 6, scale: 1 } } })).rejects.toMatchObject({
    code: "bad_selection",
    param: "decimal",
    message: `Row 1 has 1.25 in column "n", which is exported as numbers of 6 digits, 1 of them after the point: export it as text.`,
  })
  await expect(failing({ decimals: { nope: { precision: 6, scale: 1 } } })).rejects.toMatchObject({
    code: "unknown_column",
  })
  await expect(failing({ texts: ["nope"] })).rejects.toMatchObject({ code: "unknown_column" })
  await expect(failing({ decimals: { n: { precision: 39, scale: 1 } } })).rejects.toMatchObject({ code: "bad_option" })
  await cabinet.sql(
    `INSERT INTO public.odd (id, d) VALUES (2, 'infinity'); INSERT INTO public.odd (id, money) VALUES (3, 'NaN')`,
  )
  await expect(failing({})).rejects.toMatchObject({
    param: "text",
    message: expect.stringContaining(`"infinity" in column "d"`),
  })
  await expect(failing({ texts: ["d"] })).rejects.toMatchObject({
    message: expect.stringContaining(`"NaN" in column "money"`),
  })
  const whole = await exported("public.odd", { sort: "id" }, { format: "parquet", texts: ["d", "money"] })
  assert.deepStrictEqual(await query(`SELECT d, money FROM '${whole}' ORDER BY id`), [
    { d: "2026-01-01", money: "1.25" },
    { d: "infinity", money: null },
    { d: null, money: "NaN" },
  ])
  const none = await exported("public.odd", { fc: "id", fo: "lt", fv: 0 }, { format: "parquet" })
  assert.deepStrictEqual(await query(`SELECT count(*)::int AS n FROM '${none}'`), [{ n: 0 }])
})

it("CSV and TSV have every value, read by csv-parse", async () => {
  const columns = ["id", "n", "money", "note", "ok"]
  const expected = await texts(columns.map((name) => `${name}::text`).join(", "))
  for (const [format, delimiter] of [
    ["csv", ","],
    ["tsv", "\t"],
  ] as const) {
    const file = await exported("public.kinds", { sort: "id", col: columns }, { format })
    // An empty cell in quotes is an empty text.
    const rows: Array<Record<string, string | null>> = parse(readFileSync(file), {
      columns: true,
      delimiter,
      cast: (value, { quoting }) => (value === "" && !quoting ? null : value),
    })
    assert.deepStrictEqual(rows, expected as typeof rows)
  }
})

it("a workbook has every value that a cell can hold, and fails at the first that it cannot", async () => {
  const columns = ["id", "n", "small", "f", "note", "at", "d", "ok", "j"]
  const file = await exported(
    "public.kinds",
    { sort: "id", col: columns, fc: "id", fo: "le", fv: 2_000 },
    { format: "xlsx" },
  )
  const book = Xlsx.read(readFileSync(file), { cellDates: true, UTC: true })
  const sheet = book.Sheets["kinds"]!
  const [head, ...rows] = Xlsx.utils.sheet_to_json<ReadonlyArray<unknown>>(sheet, {
    header: 1,
    UTC: true,
    blankrows: true,
  })
  assert.deepStrictEqual([book.SheetNames, head], [["kinds"], columns])
  const expected = await texts(
    `id::int, n::text, small::int, f, note, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at, d::text, ok, j::text`,
  )
  assert.strictEqual(rows.length, 2_001)
  for (const [index, row] of rows.entries()) {
    const [id, n, small, f, note, at, d, ok, j] = columns.map((_, column) => row[column] ?? null)
    const truly = expected[index]!
    const day = d instanceof Date ? d.toISOString().slice(0, 10) : d
    const double = typeof f === "string" ? Number(f) : f
    assert.deepStrictEqual(
      [id, n, small, double, note, at, day, ok, j],
      columns.map((name) => truly[name]),
      `row ${index}`,
    )
  }
  await cabinet.sql(`UPDATE public.odd SET note = repeat('x', 32768) WHERE id = 3`)
  await expect(exported("public.odd", {}, { format: "xlsx" })).rejects.toMatchObject({
    code: "bad_columns",
    message: expect.stringContaining(`Row 3 has 32768 characters in column "note"`),
  })
})

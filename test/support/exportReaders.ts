/**
 * Other programs' readers of exported files. Each reads row by row, so that a file may be larger than memory. Their values are
 * compared as text with PostgreSQL's (`exportedValues`).
 */
import { spawn, spawnSync } from "node:child_process"
import { createReadStream } from "node:fs"
import { dirname, join } from "node:path"
import { createInterface } from "node:readline"
import { zstdDecompressSync } from "node:zlib"
import { DuckDBInstance } from "@duckdb/node-api"
import { parse } from "csv-parse"
import { asyncBufferFromFile, parquetMetadataAsync, parquetReadObjects } from "hyparquet"
import type { TestDatabase } from "./postgres.ts"

/** For hyparquet, which reads no zstd of its own. */
export const compressors = { ZSTD: (page: Uint8Array) => zstdDecompressSync(page) }

/** The format of a file. */
export type Form = "csv" | "tsv" | "ndjson" | "xlsx" | "parquet"
/** A row as texts by column name. */
type Row = Readonly<Record<string, string | null>>

/** `shown` is a row of `exportedValues` in the precision of this reader. */
export interface Reader {
  readonly name: string
  readonly rows: (file: string) => AsyncIterable<Row>
  readonly shown: (row: Row) => Row
}

/** The exported table. `pads` is how many times its last column repeats a text of 32 characters. */
export const exportedTable = (rows: number, pads: number): string => `
CREATE TABLE wide (id bigint PRIMARY KEY, small integer, money numeric(12,2), n numeric, note text, at timestamptz, d date, ok boolean, j jsonb, pad text);
INSERT INTO wide SELECT g, CASE WHEN g % 7 > 0 THEN g % 1000 END, g * 1.01, g * 1.10 + 12345678901234567890,
  CASE g % 5 WHEN 0 THEN NULL WHEN 1 THEN '' WHEN 2 THEN '=1+"x",' || chr(10) || 'ё😀' ELSE 'note ' || g END,
  '2026-01-01T00:00:00.000001Z'::timestamptz + g * interval '1 minute', '1910-01-01'::date + g % 40000, g % 2 = 0,
  jsonb_build_object('a', 1.10, 'b', ARRAY[g]), repeat(md5(g::text), ${pads}) FROM generate_series(1, ${rows}) g;`

const TRUTH = `
  id::text, small::text, money::text, n::text, note, to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.US"Z"') AS at,
  d::text, ok::text, j::text, pad`
const CHUNK = 10_000

/** All values in PostgreSQL's own form, by key. */
export const exportedValues = async function* (database: TestDatabase): AsyncGenerator<Row, undefined> {
  for (let from = 1; ; from += CHUNK) {
    const rows = await database.run(
      `SELECT ${TRUTH} FROM public.wide WHERE wide.id BETWEEN ${from} AND ${from + CHUNK - 1} ORDER BY wide.id`,
    )
    if (rows.length === 0) return
    yield* rows as ReadonlyArray<Row>
  }
}

const same = (row: Row): Row => row
const withoutSpaces = (row: Row): Row => ({ ...row, j: row["j"]!.replaceAll(" ", "") })

const separated = async function* (file: string, delimiter: string) {
  // An empty cell in quotes is an empty text.
  const cells = parse({
    columns: true,
    delimiter,
    cast: (value, { quoting, header }) => (value === "" && !quoting && !header ? null : value),
  })
  for await (const row of createReadStream(file).pipe(cells)) yield row as Row
}

/** Numbers keep their digits. */
interface Digits {
  readonly rawJSON: string
}
const { rawJSON } = JSON as unknown as { readonly rawJSON: (text: string) => Digits }
const digits = (_key: string, value: unknown, { source }: { readonly source?: string } = {}): unknown =>
  typeof value === "number" ? rawJSON(source!) : value

const lines = async function* (file: string) {
  for await (const line of createInterface({ input: createReadStream(file) })) {
    const row = JSON.parse(line, digits as Parameters<typeof JSON.parse>[1]) as Record<string, unknown>
    yield Object.fromEntries(
      Object.entries(row).map(([name, value]) => [
        name,
        value === null || typeof value === "string" ? value : JSON.stringify(value),
      ]),
    )
  }
}

const AS_TEXTS = `
  id::text AS id, small::text AS small, money::text AS money, n, note, strftime("at" AT TIME ZONE 'UTC', '%Y-%m-%dT%H:%M:%S.%fZ') AS "at",
  d::text AS d, ok::text AS ok, j::text AS j, pad`

const duckdb = async function* (file: string) {
  const connection = await (await DuckDBInstance.create(":memory:")).connect()
  try {
    await connection.run("SET threads = 1")
    const result = await connection.stream(`SELECT ${AS_TEXTS} FROM read_parquet('${file}')`)
    for (;;) {
      const chunk = await result.fetchChunk()
      if (chunk === null || chunk.rowCount === 0) return
      yield* chunk.getRowObjects(result.deduplicatedColumnNames()) as ReadonlyArray<Row>
    }
  } finally {
    connection.closeSync()
  }
}

const hyparquet = async function* (path: string) {
  const file = await asyncBufferFromFile(path)
  const metadata = await parquetMetadataAsync(file)
  let start = 0
  for (const group of metadata.row_groups) {
    const end = start + Number(group.num_rows)
    const rows = await parquetReadObjects({ file, metadata, compressors, rowStart: start, rowEnd: end })
    for (const row of rows) {
      const { at, d, j, money, ...others } = row as Record<string, unknown>
      const rest = Object.entries(others).map(([name, value]) => [name, value === null ? null : String(value)] as const)
      yield {
        ...(Object.fromEntries(rest) as Row),
        money: (money as number).toFixed(2),
        at: (at as Date).toISOString(),
        d: (d as Date).toISOString().slice(0, 10),
        j: JSON.stringify(j),
      }
    }
    start = end
  }
}

/** This reader has doubles for decimals, milliseconds for times, and JSON numbers without trailing zeros. */
const roundedForHyparquet = (row: Row): Row => ({
  ...row,
  at: row["at"]!.replace(/\d{3}Z$/, "Z"),
  j: withoutSpaces(row)["j"]!.replace("1.10", "1.1"),
})

const has = (program: string, ...args: ReadonlyArray<string>): boolean =>
  spawnSync(program, args, { stdio: "ignore" }).status === 0

/** LibreOffice can only convert a file as a whole. */
const office = async function* (file: string) {
  const dir = dirname(file)
  const done = spawnSync(
    "soffice",
    [
      "--headless",
      `-env:UserInstallation=file://${join(dir, "office")}`,
      "--convert-to",
      "csv:Text - txt - csv (StarCalc):44,34,76,1,,1033,false,false",
      "--outdir",
      dir,
      file,
    ],
    { encoding: "utf8" },
  )
  if (done.status !== 0) throw new Error(done.stderr)
  yield* separated(file.replace(/xlsx$/, "csv"), ",")
}

/** Debian's own. */
const PYTHON = "/usr/bin/python3"

const OPENPYXL = `
import datetime, json, openpyxl, sys
sheet = openpyxl.load_workbook(sys.argv[1], read_only=True).worksheets[0]
rows = sheet.iter_rows(values_only=True)
names = next(rows)
text = lambda v: v.date().isoformat() if isinstance(v, datetime.datetime) else v if v is None or isinstance(v, str) else json.dumps(v)
for row in rows: print(json.dumps(dict(zip(names, map(text, row)))))`

const openpyxl = async function* (file: string) {
  const child = spawn(PYTHON, ["-c", OPENPYXL, file], { stdio: ["ignore", "pipe", "inherit"] })
  for await (const line of createInterface({ input: child.stdout })) yield JSON.parse(line) as Row
}

/** A number of few digits is a number cell, which does not show trailing zeros. */
const shortNumber = (row: Row): Row => ({ ...row, money: String(Number(row["money"])) })

/** LibreOffice writes CSV that does not distinguish an empty text from a missing value. */
const shownByOffice = (row: Row): Row => ({
  ...shortNumber(row),
  ok: row["ok"]!.toUpperCase(),
  note: row["note"] === "" ? null : row["note"]!,
})

/** The readers of a format that are installed here. */
export const readersOf = (form: Form): ReadonlyArray<Reader> => {
  if (form === "csv" || form === "tsv") {
    const rows = (file: string) => separated(file, form === "csv" ? "," : "\t")
    return [{ name: "csv-parse", rows, shown: same }]
  }
  if (form === "ndjson") return [{ name: "JSON.parse", rows: lines, shown: withoutSpaces }]
  if (form === "parquet") {
    return [
      { name: "DuckDB", rows: duckdb, shown: same },
      { name: "hyparquet", rows: hyparquet, shown: roundedForHyparquet },
    ]
  }
  // Debian's packages libreoffice-calc-nogui and python3-openpyxl.
  return [
    ...(has("soffice", "--version") ? [{ name: "LibreOffice", rows: office, shown: shownByOffice }] : []),
    ...(has(PYTHON, "-c", "import openpyxl") ? [{ name: "openpyxl", rows: openpyxl, shown: shortNumber }] : []),
  ]
}

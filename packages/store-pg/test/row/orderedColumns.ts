/** Shared by the tests of order: a column of every type that has one. */
import type { Random } from "./random.ts"
import type { Reading } from "./reading.ts"

/** A column of every ordered kind, with values at the edges: ties, infinities, NaN, long fractions. */
export const COLUMNS: ReadonlyArray<readonly [name: string, type: string, values: ReadonlyArray<string>]> = [
  ["small", "smallint", ["0", "1", "-32768"]],
  ["big", "bigint", ["0", "9007199254740993", "9007199254740992", "-9223372036854775808"]],
  ["int", "int", ["0", "1", "1", "-5", "2147483647"]],
  [
    "num",
    "numeric",
    ["0", "0.10", "0.1", "NaN", "Infinity", "-Infinity", "12345678901234567890.000000001", "-1", "1e300"],
  ],
  ["float", "float8", ["0", "-0", "NaN", "Infinity", "0.1", "0.30000000000000004", "1e300"]],
  ["text", `text COLLATE "C"`, ["", "a", "A", "b", "ё", "Ё", "z\u2028", "\\", "'", '"', "%_", "😀"]],
  ["icu", `text COLLATE "und-x-icu"`, ["a", "A", "á", "b", "B", "ё", "Е", ""]],
  ["folded", "text COLLATE folded", ["a", "A", "b", "B", "C"]],
  ["cit", "citext", ["a", "A", "b", "B", "ab"]],
  ["bp", "char(3)", ["a", "a ", "b", "ab"]],
  ["bool", "boolean", ["true", "false"]],
  ["date", "date", ["2026-01-01", "infinity", "-infinity", "0044-03-15 BC", "10000-01-01"]],
  [
    "ts",
    "timestamp",
    [
      "2026-01-01 00:00:00.000001",
      "2026-01-01",
      "infinity",
      "0044-03-15 00:00:00.5 BC",
      "294276-12-31 23:59:59.999999",
    ],
  ],
  [
    "tz",
    "timestamptz",
    [
      "2026-01-01 00:00:00.000001+03",
      "2025-12-31 21:00:00.000001+00",
      "-infinity",
      "2026-01-01",
      "0044-03-15 00:00:00.5+00 BC",
      "10000-01-01",
    ],
  ],
  ["iv", "interval", ["1 mon", "30 days", "1 day", "24:00:00"]],
  ["uuid", "uuid", ["00000000-0000-0000-0000-000000000001", "ffffffff-0000-0000-0000-000000000001"]],
  ["bytes", "bytea", ["\\x", "\\x00", "\\xff00"]],
  ["bit", "bit(3)", ["101", "000"]],
  ["js", "jsonb", ['{"a": 1}', '{"a": 1.0}', "[]", "null", '"x"', "1", "1.0"]],
  ["arr", "int[]", ["{}", "{1}", "{1,2}", "{NULL}"]],
  ["tarr", "timestamptz[]", ["{}", '{"2026-01-01 00:00:00.5+00"}', "{NULL,infinity}"]],
  ["range", "numrange", ["empty", "[1,2)", "(,)", "[1,2]"]],
  ["mood", "mood", ["sad", "ok", "happy"]],
  ["dom", "positive", ["1", "2", "3"]],
  ["pair", "pair", ["(1,a)", "(1,b)", "(,)", "(2,)"]],
  ["inet", "inet", ["10.0.0.1", "10.0.0.1/8", "::1"]],
  ["money", "money", ["1.00", "-2.50"]],
]

/** Creates the types and collations of these columns. */
export const createKinds = async (reading: Reading): Promise<void> => {
  await reading.database.run(`CREATE SCHEMA ext`)
  await reading.database.run(`CREATE EXTENSION citext SCHEMA ext`)
  await reading.database.run(`GRANT USAGE ON SCHEMA ext TO PUBLIC`)
  await reading.run(`CREATE TYPE mood AS ENUM ('sad', 'ok', 'happy')`)
  await reading.run(`CREATE DOMAIN positive AS int CHECK (value > 0)`)
  await reading.run(`CREATE TYPE pair AS (a int, b text)`)
  await reading.run(`CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2', deterministic = false)`)
}

/** A text as a literal. */
export const literal = (text: string) => `'${text.replaceAll("'", "''")}'`

const valuesOf = (random: Random, nulls: boolean) =>
  COLUMNS.map(([, type, values]) =>
    nulls && random.chance(0.3) ? "NULL" : `${literal(random.pick(values))}::${type.replace(/ COLLATE .*/, "")}`,
  )

/** Inserts rows with random values into a table of these columns, with a number `n` and a text `k`. */
export const filler =
  (reading: Reading) => async (name: string, random: Random, rows: number, nulls: (index: number) => boolean) => {
    const lines = Array.from(
      { length: rows },
      (_, index) => `(${[String(index), `'k${index % 7}'`, ...valuesOf(random, nulls(index))].join(", ")})`,
    )
    await reading.run(
      `INSERT INTO ${name} (n, k, ${COLUMNS.map(([column]) => `"${column}"`).join(", ")}) VALUES ${lines.join(", ")}`,
    )
  }

/** The columns as a list of definitions. */
export const definitions = (notNull: boolean) =>
  COLUMNS.map(([name, type]) => `"${name}" ${type}${notNull ? " NOT NULL" : ""}`).join(", ")

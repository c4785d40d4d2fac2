/** The JSON of the values that PostgreSQL sends, compared with what PostgreSQL writes itself. */
import { Result } from "effect"
import { afterAll, beforeAll, expect, it } from "vitest"
import { type Random, randomJsonObject, randomOf, seeded } from "../../../../test/support/random.ts"
import { openReading, type Reading } from "./reading.ts"

let reading: Reading
beforeAll(async () => {
  reading = await openReading()
})
afterAll(() => reading.close())

const ROWS = 1_000

/** A random number of bits, small ones as often as large ones, with either sign. */
const integer = (random: Random, bits: number): bigint => {
  const used = BigInt(random(bits))
  const value = BigInt.asUintN(Number(used), (BigInt(random(2 ** 32)) << 32n) | BigInt(random(2 ** 32)))
  return random(2) === 0 ? value : -value - 1n
}

const digits = (random: Random, count: number): string => Array.from({ length: count }, () => random(10)).join("")

const numeric = (random: Random): string => {
  if (random(20) === 0) return randomOf(random, ["NaN", "Infinity", "-Infinity"])
  const zeros = "0".repeat(random(12))
  const fraction = random(2) === 0 ? "" : `.${zeros}${digits(random, random(30))}`
  return `${random(2) === 0 ? "-" : ""}${digits(random, 1 + random(40))}${zeros}${fraction}e${random(9) === 0 ? random(400) - 200 : 0}`
}

/** Any character except NUL, which PostgreSQL cannot hold; most often those that JSON escapes. */
const character = (random: Random): string => {
  const kind = random(4)
  if (kind === 0) return String.fromCodePoint(1 + random(127))
  if (kind === 1) return randomOf(random, ['"', "\\", "\b", "\f", "\n", "\r", "\t", "\u001f", "\u007f", "/"])
  const point = 1 + random(0x10ffff)
  return point >= 0xd800 && point < 0xe000 ? "é" : String.fromCodePoint(point)
}

const text = (random: Random): string =>
  Array.from({ length: randomOf(random, [0, 1, 7, 47, 48, 49, 300]) }, () => character(random)).join("")

const base64 = (random: Random): string =>
  Buffer.from(Array.from({ length: random(70) }, () => random(256))).toString("base64")

/** From 4713 BC to the year 294,276, near dates more often than distant ones. */
const micros = (random: Random): string => {
  const near = BigInt(random(2 ** 31)) * 1_000_000n - 2n ** 30n * 1_000_000n
  const far = BigInt(random(2 ** 32)) * 2_100_000_000n - 200_000_000_000_000_000n
  const whole = random(3) === 0 ? far : near
  return String(random(2) === 0 ? whole : whole + BigInt(random(1_000_000)))
}

const orNull = (random: Random, value: unknown): unknown => (random(12) === 0 ? null : value)

/** A column's type, a random value as JSON or text, the SQL that makes the value, and the source of the row's JSON. */
const COLUMNS: ReadonlyArray<readonly [type: string, value: (random: Random) => unknown, sql?: string, json?: string]> =
  [
    ["bool", (random) => random(2) === 0],
    ["int2", (random) => String(integer(random, 16))],
    ["int4", (random) => String(integer(random, 32))],
    ["int8", (random) => String(integer(random, 64))],
    ["oid", (random) => String(BigInt.asUintN(32, integer(random, 33))), "$::oid", "$::int8"],
    ["numeric", numeric],
    ["numeric(12,5)", (random) => `${random(2) === 0 ? "-" : ""}${digits(random, 7)}.${digits(random, 5)}`],
    ["float8", (random) => `${integer(random, 64)}e${random(560) - 280}`],
    ["text", text],
    ["varchar(400)", text],
    ["char(310)", text, "$::char(310)", "$::text"],
    ["date", (random) => random(3_000_000) - 2_400_000, "date '2000-01-01' + $::int"],
    ["timestamp", micros, "timestamp '2000-01-01' + $::int8 * interval '1 us'"],
    [
      "timestamptz",
      micros,
      "timestamptz '2000-01-01Z' + $::int8 * interval '1 us'",
      String.raw`regexp_replace(btrim(to_json($ AT TIME ZONE 'UTC')::text, '"'), '( BC)?$', 'Z\1')`,
    ],
    ["json", (random) => randomJsonObject(random, 1)],
    ["jsonb", (random) => `[${random(9)}, "${random(9)}"]`],
    ["bytea", base64, "decode($, 'base64')", "translate(encode($, 'base64'), chr(10), '')"],
    ["uuid", (random) => `00000000-0000-4000-8000-${digits(random, 12)}`],
    ["int4[]", (random) => `{${random(9)},NULL,${random(9)}}`],
  ]

it("is the same, byte for byte, for random values of every type that is read as it is sent", async () => {
  const random = seeded(20261122)
  const at = (template: string, column: string) => template.replaceAll(/\$(?!')/g, () => column)
  await reading.run(
    `CREATE TABLE sent (id int PRIMARY KEY, ${COLUMNS.map(([type], index) => `v${index} ${type}`).join(", ")})`,
  )
  const rows = Array.from({ length: ROWS }, () => COLUMNS.map(([, value]) => orNull(random, value(random))))
  await reading.run(
    `INSERT INTO sent SELECT n, ${COLUMNS.map(([type, , sql = `$::${type}`], index) => at(sql, `(r ->> ${index})`)).join(", ")}
     FROM json_array_elements($1::text::json) WITH ORDINALITY AS g(r, n)`,
    [JSON.stringify(rows)],
  )
  const expected = await reading.run(
    `SELECT row_to_json(r)::text AS json FROM (
       SELECT id, ${COLUMNS.map(([, , , json = "$"], index) => `${at(json, `v${index}`)} AS v${index}`).join(", ")}
       FROM sent ORDER BY id) r`,
  )
  const { items } = Result.getOrThrow(await reading.page("sent", [["limit", String(ROWS)]]))
  expect(items.length).toBe(ROWS)
  for (const [index, item] of items.entries()) expect(item).toBe(expected[index]?.["json"])
})

import type { ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import { DATE_NOTATIONS, type Notation, NUMBER_NOTATIONS, readInNotation } from "@data-cabinet/core/row/Notation"
import { assert, it } from "vitest"
import { randomOf, seeded } from "../../../../test/support/random.ts"
import { withDatabase } from "../../../../test/support/postgres.ts"
import { conversion } from "@data-cabinet/store-pg/row/NotationSql"

const database = withDatabase()

const CASES: ReadonlyArray<readonly [ColumnKind, Notation]> = [
  ...NUMBER_NOTATIONS.map((numbers) => ["numeric", { numbers }] as const),
  ...DATE_NOTATIONS.flatMap((dates) => [["date", { dates }] as const, ["timestamptz", { dates }] as const]),
]

/** Texts close to both sides of the boundary between valid and invalid notation. */
const texts = (seed: number): ReadonlyArray<string> => {
  const random = seeded(seed)
  const part = () =>
    randomOf(random, ["0", "1", "12", "123", "007", "29", "31", "2026", "1900", "0000", "02", "2", "1234567"])
  const between = () => randomOf(random, [".", ",", " ", "/", "-", "'", "\u2019", "\u00A0", "\u202F", ""])
  const tail = () =>
    randomOf(random, ["", "", "", " 9:30", "T09:30:15.123456Z", " 23:59:59+03:00", " 24:00Z", "x", "\n"])
  const days = () => {
    const separator = randomOf(random, [".", "/", "-"])
    return [String(1 + random(32)), String(1 + random(13)), randomOf(random, ["2024", "1900", "2026", "26"])]
      .toSorted(() => random(3) - 1)
      .join(separator)
  }
  const group = () => `${randomOf(random, [".", ",", " ", "'"])}${randomOf(random, ["123", "123", "000", "12"])}`
  return Array.from({ length: 4_000 }, () =>
    random(2) === 0
      ? `${days()}${tail()}`
      : random(2) === 0
        ? `${1 + random(1_500)}${group()}${group()}${randomOf(random, ["", ",5", ".50", ",", "."])}`
        : `${randomOf(random, ["", "", "-", "\u2212", "+"])}${part()}${between()}${part()}${between()}${part()}${tail()}`,
  )
}

/** On both sides of the maximum number of digits. */
const LONG = [255, 256].flatMap((digits) => {
  const number = "1".repeat(digits)
  return [
    number,
    `0.${number}`,
    `0,${number}`,
    number.replaceAll(/\B(?=(\d{3})+$)/g, " "),
    `${number},5`,
    `${number}.5`,
  ]
})

const input = (values: ReadonlyArray<string | null>) =>
  `SELECT t AS v, n FROM json_array_elements_text($json$${JSON.stringify(values)}$json$) WITH ORDINALITY AS e(t, n)`

it.each(CASES)("PostgreSQL and the rule agree on texts read as %s in the notation %j", async (type, notation) => {
  const all = [...texts(11), ...LONG]
  const { fits, value } = conversion("v", "text", { type, notation })
  const asText = `CASE WHEN ${fits} THEN (${value})::text END`
  const read = await database.run(`SELECT ${asText} AS read FROM (${input(all)}) AS given ORDER BY n`)
  const plain = all.map((text) => readInNotation(text, type, notation))
  const expected = await database.run(`SELECT (v::${type})::text AS read FROM (${input(plain)}) AS given ORDER BY n`)
  assert.deepStrictEqual(
    read.map((row, n) => [all[n], row["read"]]),
    expected.map((row, n) => [all[n], row["read"]]),
  )
  assert.isAbove(plain.filter((one) => one !== null).length, 20)
})

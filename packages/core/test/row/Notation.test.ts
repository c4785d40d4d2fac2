import {
  DATE_NOTATIONS,
  NUMBER_NOTATIONS,
  readDay,
  readInNotation,
  readNumber,
  refusedNotation,
} from "@data-cabinet/core/row/Notation"
import { expect, it } from "vitest"
import { type Random, randomOf, seeded } from "../../../../test/support/random.ts"

it.each<[string, string | null, string | null]>([
  ["1,50", "1.50", null],
  ["1.50", null, "1.50"],
  ["1.234,50", "1234.50", null],
  ["1,234.50", null, "1234.50"],
  ["1.234", "1234", "1.234"],
  ["1 234 567", "1234567", "1234567"],
  ["1\u00A0234,5", "1234.5", null],
  ["1’234.5", null, "1234.5"],
  ["\u22121,5", "-1.5", null],
  ["0,00", "0.00", null],
  ["1.234 567", null, null],
  ["12.34,5", null, null],
  ["007", null, null],
  ["1,", null, null],
  [",5", null, null],
  ["+1", null, null],
  [" 1", null, null],
  ["1e5", null, null],
  ["", null, null],
])("readNumber reads %j as %j with a comma and as %j with a dot", (text, comma, dot) => {
  expect([readNumber(text, "comma"), readNumber(text, "dot")]).toEqual([comma, dot])
})

it.each<[string, string | null, string | null, string | null]>([
  ["02.03.2026", "2026-03-02", "2026-02-03", null],
  ["2/3/2026", "2026-03-02", "2026-02-03", null],
  ["2026-03-02", "2026-03-02", "2026-03-02", "2026-03-02"],
  ["2026/3/2", null, null, "2026-03-02"],
  ["31-12-2026", "2026-12-31", null, null],
  ["31.04.2026", null, null, null],
  ["2.3.26", null, null, null],
  ["02.03/2026", null, null, null],
  ["02.03.0000", null, null, null],
  ["02.03.2026 9:30:15", "2026-03-02T09:30:15", "2026-02-03T09:30:15", null],
  ["02.03.2026 25:00", null, null, null],
])("readDay reads %j as %j, %j and %j with the day, the month and the year first", (text, dmy, mdy, ymd) => {
  expect([readDay(text, "dmy"), readDay(text, "mdy"), readDay(text, "ymd")]).toEqual([dmy, mdy, ymd])
})

const number = (random: Random, length: number) => Array.from({ length }, () => String(random(10))).join("")

it.each(NUMBER_NOTATIONS)("a number written with a %s is read as the same number, to the last digit", (numbers) => {
  const random = seeded(3)
  const separators = ["", numbers === "comma" ? "." : ",", " ", "\u00A0", "\u202F", "'", "\u2019"]
  for (let n = 0; n < 5_000; n++) {
    const minus = randomOf(random, ["", "-"])
    const whole = random(10) === 0 ? "0" : `${1 + random(9)}${number(random, random(255))}`
    const fraction = random(2) === 0 ? "" : number(random, 1 + random(255))
    const separator = randomOf(random, separators)
    const grouped = whole.replaceAll(/\B(?=(\d{3})+$)/g, separator)
    const written = `${minus}${grouped}${fraction === "" ? "" : `${numbers === "comma" ? "," : "."}${fraction}`}`
    const plain = `${minus}${whole}${fraction === "" ? "" : `.${fraction}`}`
    expect(readInNotation(written, "numeric", { numbers }), written).toBe(plain)
  }
})

it.each(DATE_NOTATIONS)("a day written in the order %s is read as the same day", (dates) => {
  const random = seeded(5)
  for (let n = 0; n < 5_000; n++) {
    const day = new Date(Date.UTC(2000, 0, random(700_000) - 300_000)).toISOString().slice(0, 10)
    const [year, month, date] = day.split("-") as [string, string, string]
    const short = (part: string) => (random(2) === 0 ? part : String(Number(part)))
    const parts: Readonly<Record<string, string>> = { y: year, m: short(month), d: short(date) }
    const written = [...dates].map((part) => parts[part]).join(randomOf(random, [".", "/", "-"]))
    expect(readInNotation(written, "date", { dates }), written).toBe(day)
  }
})

it("a notation applies to columns of text, and to the types that it says something of", () => {
  expect(refusedNotation("text", "numeric", { numbers: "comma" })).toBeUndefined()
  expect(refusedNotation("text", "timestamptz", { dates: "dmy" })).toBeUndefined()
  expect(refusedNotation("jsonb", "numeric", {})).toBeUndefined()
  expect(refusedNotation("jsonb", "numeric", { numbers: "dot" })).toMatch(/columns of text only/)
  expect(refusedNotation("text", "date", { numbers: "dot" })).toMatch(/type numeric only/)
  expect(refusedNotation("text", "numeric", { dates: "mdy" })).toMatch(/date and timestamptz/)
  expect(refusedNotation("text", "numeric", { numbers: "semicolon" as "dot" })).toMatch(/comma, dot/)
  expect(refusedNotation("text", "date", { dates: "ydm" as "dmy" })).toMatch(/dmy, mdy, ymd/)
})

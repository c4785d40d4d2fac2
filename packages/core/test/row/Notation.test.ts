import {
  DATE_NOTATIONS,
  notationPattern,
  NUMBER_NOTATIONS,
  numberTranslation,
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
])("readNumber reads %j as %j with a decimal comma and as %j with a decimal point", (text, comma, dot) => {
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

it.each(NUMBER_NOTATIONS)(
  "a number written with a %s is read back as the same number, to the last digit",
  (numbers) => {
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
  },
)

it.each(DATE_NOTATIONS)("a day written in the order %s is read back as the same day", (dates) => {
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

it("refusedNotation allows text columns and the types that the notation covers", () => {
  expect(refusedNotation("text", "numeric", { numbers: "comma" })).toBeUndefined()
  expect(refusedNotation("text", "timestamptz", { dates: "dmy" })).toBeUndefined()
  expect(refusedNotation("text", "date", { dates: "mdy" })).toBeUndefined()
  expect(refusedNotation("jsonb", "numeric", {})).toBeUndefined()
  // It is not read again.
  expect(refusedNotation("numeric", "numeric", { numbers: "dot" })).toBeUndefined()
  expect(refusedNotation("jsonb", "numeric", { numbers: "dot" })).toMatch(/columns of text only/)
  expect(refusedNotation("text", "date", { numbers: "dot" })).toMatch(/type numeric only/)
  expect(refusedNotation("text", "numeric", { dates: "mdy" })).toMatch(/date and timestamptz/)
  expect(refusedNotation("text", "numeric", { numbers: "semicolon" as "dot" })).toMatch(
    /notation of numbers .* comma, dot/,
  )
  expect(refusedNotation("text", "date", { dates: "ydm" as "dmy" })).toMatch(/notation of dates .* dmy, mdy, ymd/)
})

it("readInNotation reads other kinds as written in JSON and ISO 8601", () => {
  const both = { numbers: "comma", dates: "dmy" } as const
  for (const notation of [both, {}]) {
    expect(readInNotation("true", "boolean", notation)).toBe("true")
    expect(readInNotation("1,5", "text", notation)).toBe("1,5")
    expect(readInNotation("02.03.2026", "text", notation)).toBe("02.03.2026")
    expect(readInNotation("maybe", "boolean", notation)).toBeNull()
  }
  expect(readInNotation("1.50", "numeric", { dates: "dmy" })).toBe("1.50")
  expect(readInNotation("1,50", "numeric", { dates: "dmy" })).toBeNull()
  expect(readInNotation("007", "numeric", {})).toBeNull()
  expect(readInNotation("2026-03-02", "date", { numbers: "comma" })).toBe("2026-03-02")
  expect(readInNotation("02.03.2026", "date", { numbers: "comma" })).toBeNull()
  // A day is not a timestamp, nor a timestamp a day.
  expect(readInNotation("02.03.2026", "timestamptz", both)).toBeNull()
  expect(readInNotation("02.03.2026 9:30Z", "date", both)).toBeNull()
  expect(readInNotation("02.03.2026 9:30Z", "timestamptz", both)).toBe("2026-03-02T09:30Z")
})

/** As PostgreSQL's `translate` does. */
const translated = (text: string, { from, to }: ReturnType<typeof numberTranslation>) =>
  Array.from(text, (character) => {
    const at = from.indexOf(character)
    return at === -1 ? character : (to[at] ?? "")
  }).join("")

it("PostgreSQL converts a column of numbers as readNumber reads each", () => {
  const texts = [
    "1,50",
    "1.50",
    "1.234,50",
    "1,234.50",
    "1 234 567",
    "1\u00A0234,5",
    "1’234.5",
    "\u22121,5",
    "-0,5",
    "1.",
  ]
  for (const numbers of NUMBER_NOTATIONS) {
    const pattern = new RegExp(notationPattern("numeric", { numbers })!)
    for (const text of [...texts, "12.34,5", "007", "", "x"]) {
      const read = pattern.test(text) ? translated(text, numberTranslation(numbers)) : null
      expect(read, text).toBe(readNumber(text, numbers))
    }
  }
})

it("PostgreSQL converts a column of days and times as readDay reads each", () => {
  const days = ["02.03.2026", "2/3/2026", "2026-03-02", "2026/3/2", "31-12-2026", "2.3.26", "02.03/2026", "02.03.0000"]
  for (const dates of DATE_NOTATIONS) {
    const [day, moment] = (["date", "timestamptz"] as const).map(
      (kind) => new RegExp(notationPattern(kind, { dates })!),
    )
    for (const text of days) {
      expect(day!.test(text), text).toBe(readInNotation(text, "date", { dates }) !== null)
      for (const time of ["", " 9:30Z", "T09:30:15.5+02:00", " 25:00Z", " 9:30"]) {
        const isRead = readInNotation(`${text}${time}`, "timestamptz", { dates }) !== null
        expect(moment!.test(`${text}${time}`), `${text}${time}`).toBe(isRead)
      }
    }
  }
})

it("notationPattern is undefined for kinds that the notation does not cover", () => {
  expect(notationPattern("numeric", { dates: "dmy" })).toBeUndefined()
  expect(notationPattern("date", { numbers: "dot" })).toBeUndefined()
  expect(notationPattern("boolean", { numbers: "dot", dates: "dmy" })).toBeUndefined()
})

import type { ColumnType } from "@data-cabinet/core/row/ColumnType"
import { clockWord } from "@data-cabinet/core/selection/ClockWord"
import { assert, describe, it } from "@effect/vitest"
import { scalar } from "./tables.ts"

const date = scalar("date")
const text = scalar("text")
const range: ColumnType = { ...scalar("other"), temporal: true }
const arrayOf = (element: ColumnType): ColumnType => ({ ...element, kind: "array", element })
const pair: ColumnType = {
  ...scalar("other"),
  kind: "composite",
  fields: [
    { name: "said", type: text },
    { name: "on", type: date },
  ],
  temporal: true,
}

describe("clockWord", () => {
  it.each([
    "now",
    "NOW",
    "\t tOdAy\n",
    "tomorrow 10:00",
    "10:00yesterday",
    "today12:00",
    "2026-01-01 allballs",
    "epoch",
    "now+03",
  ])("clockWord finds the word in %j", (value) => {
    assert.isDefined(clockWord(date, value))
    assert.isUndefined(clockWord(text, value))
  })
  it.each(["2026-01-01", "infinity", "-infinity", "January 8, 1999", "nowhere", "2026-01-01 Etc/Today_x1now", ""])(
    "clockWord finds none in %j",
    (value) =>
      value.includes("Today") ? assert.isDefined(clockWord(date, value)) : assert.isUndefined(clockWord(date, value)),
  )
  it("clockWord looks inside ranges, lists and records, but only at dates and times", () => {
    assert.strictEqual(clockWord(range, "[2026-01-01,Today)"), "Today")
    assert.strictEqual(clockWord(arrayOf(date), '{2026-01-01,"now"}'), "now")
    assert.strictEqual(clockWord(arrayOf(date), "[2:3]={{2026-01-01},{ tomorrow }}"), "tomorrow")
    assert.strictEqual(clockWord(pair, "(today,2026-01-01)"), undefined)
    assert.strictEqual(clockWord(pair, '("a,b ""today""\\"",2026-01-01)'), undefined)
    assert.strictEqual(clockWord(pair, "(today,to\\day)"), "today")
    assert.strictEqual(clockWord(arrayOf(pair), '{"(now,2026-01-01)"}'), undefined)
    assert.strictEqual(clockWord(arrayOf(pair), '{"(a,2026-01-01)","(\\"a\\",now)"}'), "now")
  })
  it("clockWord accepts any text without failing", () => {
    for (const value of ["(", "{", '{"', "(\\", "}{", ")(", "x".repeat(100_000)])
      for (const type of [date, range, pair, arrayOf(pair)]) assert.isUndefined(clockWord(type, value))
  })
})

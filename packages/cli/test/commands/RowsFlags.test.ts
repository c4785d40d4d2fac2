import { periodPairs, wherePairs } from "data-cabinet/commands/RowsFlags"
import { Result } from "effect"
import { assert, it } from "vitest"

it.each([
  ["total>=10", "total", "ge", "10"],
  ["total >= 10", "total", "ge", "10"],
  ["total<10", "total", "lt", "10"],
  ["name=a=b", "name", "eq", "a=b"],
  ["name != ", "name", "ne", ""],
  ["full name~O'Neil >", "full name", "contains", "O'Neil >"],
  ["note is empty", "note", "empty", ""],
  ["note is not empty", "note", "notempty", ""],
  ["note=is empty", "note", "eq", "is empty"],
  ["text=two\nlines", "text", "eq", "two\nlines"],
])("wherePairs reads %j as a filter of the API", (text, column, condition, value) => {
  assert.deepStrictEqual(Result.getOrThrow(wherePairs(text)), [
    ["fc", column],
    ["fo", condition],
    ["fv", value],
  ])
})

it.each(["", "total", ">=10", "is empty"])("wherePairs refuses %j with a message", (text) => {
  assert.match(Result.match(wherePairs(text), { onSuccess: String, onFailure: String }), /^--where must be a column/)
})

it("periodPairs reads days, either end open", () => {
  assert.deepStrictEqual(Result.getOrThrow(periodPairs("created=2026-01-01..2026-01-31")), [
    ["per", "created"],
    ["from", "2026-01-01"],
    ["to", "2026-01-31"],
  ])
  assert.deepStrictEqual(Result.getOrThrow(periodPairs("a=b=..2026-01-31")), [
    ["per", "a=b"],
    ["to", "2026-01-31"],
  ])
  for (const text of ["created", "created=..", "=2026-01-01..", "created=January..March"]) {
    assert.isTrue(Result.isFailure(periodPairs(text)), text)
  }
})

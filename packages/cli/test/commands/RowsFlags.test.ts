import { periodPairs, wherePairs } from "data-cabinet/commands/RowsFlags"
import { friendlyPairs } from "data-cabinet/commands/SelectionFlags"
import { Effect, Option, Result } from "effect"
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

const flags = { where: [], any: [], fc: [], fj: [], sort: [], period: Option.none(), search: Option.none() }
const friendly = (given: object) => {
  const pairs = Effect.runSync(friendlyPairs({ ...flags, desc: false, columns: Option.none(), ...given }))
  return pairs.filter(([name]) => ["fj", "dir", "fc"].includes(name)).map((pair) => pair.join("="))
}

it("friendlyPairs makes one group of every --any, beside every --where and the filters by the API's names", () => {
  const [where, any] = [
    ["a=1", "b=1"],
    ["c=1", "d=1", "e=1"],
  ]
  const columns = ["fc=a", "fc=b", "fc=c", "fc=d", "fc=e"]
  assert.deepStrictEqual(friendly({ where, any }), [...columns, "fj=and", "fj=and", "fj=or", "fj=or"])
  assert.deepStrictEqual(friendly({ where, any, fc: ["f", "g"], fj: ["or"] }).slice(5), [
    "fj=and",
    "fj=and",
    "fj=or",
    "fj=or",
    "fj=and",
  ])
  assert.deepStrictEqual(friendly({ where, fc: ["f", "g"] }), ["fc=a", "fc=b"])
  assert.deepStrictEqual(friendly({ any: ["c=1"] }), ["fc=c"])
})

it("friendlyPairs applies --desc to each --sort", () => {
  assert.deepStrictEqual(friendly({ desc: true }), ["dir=desc"])
  assert.deepStrictEqual(friendly({ desc: true, sort: ["a", "b"] }), ["dir=desc", "dir=desc"])
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

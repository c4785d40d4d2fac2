import { decodeSegment, queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { assert, it } from "@effect/vitest"
import { Schema } from "effect"

it("queryPairs keeps order, repeats and empty values", () => {
  assert.deepEqual(queryPairs("fc=a&fo=eq&fv=&fc=b&&q&=x"), [
    ["fc", "a"],
    ["fo", "eq"],
    ["fv", ""],
    ["fc", "b"],
    ["q", ""],
    ["", "x"],
  ])
  assert.deepEqual(queryPairs(""), [])
})

it("queryPairs reads + as a space and leaves a broken escape as written", () => {
  assert.deepEqual(queryPairs("a=1+2%2B3&b=50%&c=%zz&d=%D0%B6&e=%D0&f=a=b"), [
    ["a", "1 2+3"],
    ["b", "50%"],
    ["c", "%zz"],
    ["d", "ж"],
    ["e", "�"],
    ["f", "a=b"],
  ])
})

const text = Schema.String.check(Schema.isMaxLength(20))

it.prop(
  "queryPairs restores any output of URLSearchParams",
  [Schema.Array(Schema.Tuple([text, text])).check(Schema.isMaxLength(6))],
  ([pairs]) => {
    const sent = pairs.map(([name, value]) => [name.toWellFormed(), value.toWellFormed()] as const)
    assert.deepEqual(queryPairs(new URLSearchParams(sent.map(([n, v]): [string, string] => [n, v])).toString()), sent)
  },
  { arbitrary: { runs: 300 } },
)

it.prop(
  "queryPairs reads any text as URLSearchParams does",
  [Schema.String.check(Schema.isMaxLength(30), Schema.isPattern(/^[ -~]*$/))],
  ([query]) => {
    const plain = query.replaceAll(/[#?]/g, "%")
    assert.deepEqual(
      queryPairs(plain).map(([n, v]) => [n, v]),
      [...new URLSearchParams(plain)],
    )
  },
  { arbitrary: { runs: 300 } },
)

it("decodeSegment rejects broken escapes", () => {
  assert.equal(decodeSegment("a%2Fb+c"), "a/b+c")
  for (const broken of ["%", "%z", "%ff", "%D0"]) assert.equal(decodeSegment(broken), undefined)
})

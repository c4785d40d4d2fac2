import { assert, it } from "@effect/vitest"
import { describe } from "vitest"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { Random, Seed } from "./Random.ts"

const NDJSON = "application/x-ndjson"

const parse = (text: string | Uint8Array, contentType = NDJSON, query = "") =>
  parseSubmission({ body: Buffer.from(text), contentType, query, encoding: null })
const payloads = (text: string | Uint8Array, contentType = NDJSON) =>
  parse(text, contentType).events.map(({ payload }) => jsonText(payload))

const TWO = ['{"a":1.0}', '{"b":"x"}']

describe("parseSubmission of lines of JSON", () => {
  it.each([
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/x-jsonl",
    "application/jsonlines",
    "application/x-jsonlines",
    "application/json-lines",
    "application/x-ldjson",
    "application/json-seq",
    "application/geo+json-seq",
    "application/stream+json",
    "text/x-ndjson",
    "Application/X-NDJSON; charset=utf-8",
  ])("parseSubmission makes each line an event under %s", (contentType) => {
    assert.deepStrictEqual(payloads(`${TWO.join("\n")}\n`, contentType), TWO)
    assert.strictEqual(parse(TWO[0]!, contentType).shape, "batch")
  })

  it.each([
    ["no line break at the end", TWO.join("\n")],
    ["CRLF", `${TWO.join("\r\n")}\r\n`],
    ["CR", TWO.join("\r")],
    ["blank lines", `\n\n${TWO.join("\n \t\n\n")}\n\n`],
    ["a byte order mark", `\uFEFF${TWO.join("\n")}`],
    ["a byte order mark on each line", TWO.map((line) => `\uFEFF${line}\n`).join("")],
    ["white space around the lines", TWO.map((line) => `  ${line} \n`).join("")],
    ["record separators", TWO.map((line) => `\u001e${line}\n`).join("")],
    ["record separators alone", `\u001e${TWO.join("\u001e\u001e")}`],
  ])("parseSubmission reads lines of JSON with %s", (_, text) => assert.deepStrictEqual(payloads(text), TWO))

  it("parseSubmission reads records that span several lines", () => {
    assert.deepStrictEqual(payloads('\u001e{\n"a": 1.0\n}\n\u001e{"b":\n"x"}\n', "application/json-seq"), TWO)
  })

  it("parseSubmission reads one object that spans several lines as one event", () => {
    assert.deepStrictEqual(payloads('{\n  "a": 1.0\n}\n'), ['{"a":1.0}'])
    assert.strictEqual(payloads(`{\n${'"a":[\n'.repeat(1)}${"1,\n".repeat(200)}1]}`).length, 1)
  })

  it("parseSubmission adds the query's fields to the event of each line", () => {
    const { events } = parse(TWO.join("\n"), NDJSON, "q=1")
    assert.deepStrictEqual(
      events.map(({ payload }) => jsonText(payload)),
      ['{"q":"1","a":1.0}', '{"q":"1","b":"x"}'],
    )
  })

  it.each([
    ['{"a":1}\n{"b":', "bad_json", /^line 2 is not valid JSON: .*, at line 2, column 6 \(offset 13\)$/],
    ['{"a":1}\n\n{"b":1}}', "bad_json", /^line 3 is not valid JSON: .*, at line 3, column 8 \(offset 16\)$/],
    ['\uFEFF{"a":1}\r\nno', "bad_json", /^line 2 is not valid JSON: .*, at line 2, column 1 \(offset 9\)$/],
    ['no\n{"a":1}', "bad_json", /^line 1 is not valid JSON/],
    ['{"a":1} {"b":2}', "bad_json", /^line 1 is not valid JSON/],
    ['{"a":1}\n5\n6', "not_an_object", /line 2 has a number, at line 2, column 1 \(offset 8\)$/],
    ['{"a":1}\n\n[{"b":2}]', "not_an_object", /line 3 has a list/],
    ['[{"a":1}]', "not_an_object", /line 1 has a list/],
    ["null", "not_an_object", /line 1 has null/],
    [" \n\r\n", "bad_json", /the body is blank/],
    ["\uFEFF", "bad_json", /the body is blank/],
  ] as const)("parseSubmission refuses the lines %j as a whole with %s", (text, error, words) => {
    const { events, refusal, shape } = parse(text)
    assert.strictEqual(events.length, 1)
    assert.strictEqual(refusal?.error, error)
    assert.match(refusal!.detail, words)
    assert.isTrue(events[0]!.empty)
    assert.strictEqual(events[0]!.payload.get("_parse_error"), refusal!.detail)
    assert.strictEqual(shape, "object")
    if (error === "bad_json") assert.strictEqual(events[0]!.payload.get("_raw"), text)
    else assert.isDefined(events[0]!.payload.get("_value"))
  })

  it("parseSubmission keeps all values of the lines when one of them is not an object", () => {
    assert.match(payloads('{"a":1.0}\n5e0')[0]!, /^\{"_value":\[\{"a":1\.0\},5e0\],"_parse_error"/)
  })

  it("parseSubmission accepts 100 lines, and counts the lines of a longer batch", () => {
    const lines = (count: number) => Array.from({ length: count }, (_, n) => `{"n":${n}}`).join("\n")
    assert.strictEqual(parse(lines(100)).events.length, 100)
    assert.deepInclude(parse(lines(101)), { events: [], tooMany: { count: 101, limit: 100 }, refusal: null })
    assert.deepStrictEqual(parse("{}\n".repeat(300_000)).tooMany, { count: 300_000, limit: 100 })
  })

  it.prop(
    "parseSubmission makes the same events and refusals from lines as from a list",
    [Seed],
    ([seed]) => {
      const random = new Random(seed)
      // No two invalid lines are joined into one value.
      const values = ["{}", '{"a":1.0}', '{"é":"\u2028 x"}', '{"a":[1,{"b":null}]}', "5", "[]", '{"a"', "}"]
      const lines = Array.from({ length: 1 + random.below(6) }, () => values[random.below(random.pick([4, 4, 8]))]!)
      const ends = ["\n", "\r\n", "\n\n", "\r"]
      const asLines = parse(lines.map((line) => line + random.pick(ends)).join(""))
      const asList = parse(`[${lines.join(",")}]`, "application/json")
      assert.strictEqual(asLines.refusal?.error, asList.refusal?.error, JSON.stringify(lines))
      if (asLines.refusal !== null) return
      assert.deepStrictEqual(asLines.events, asList.events)
    },
    { arbitrary: { runs: 1000 } },
  )
})

/** An owner's schema: what it marks, what is refused, and that its work is bounded. */
import type { NewEvent } from "@data-cabinet/core/event/EventLog"
import type { JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { ownJson } from "@data-cabinet/core/json/ParseJson"
import { markedBy } from "@data-cabinet/core/schema/MarkEvents"
import { compileSchema, MAX_SCHEMA_BYTES, schemaRefusal } from "@data-cabinet/core/schema/OwnSchema"
import { Result } from "effect"
import { expect, it } from "vitest"

const faultOf = (schema: object, payload: string) =>
  Result.getOrThrow(compileSchema(JSON.stringify(schema))).faultOf(ownJson(payload))

it("says where a value does not follow the schema, and what it must be", () => {
  const schema = {
    type: "object",
    required: ["id"],
    properties: {
      id: { type: "integer", minimum: 1 },
      items: { items: { $ref: "#/$defs/item" }, maxItems: 2 },
      "a/b": { const: 1 },
    },
    additionalProperties: false,
    $defs: { item: { properties: { sku: { pattern: "^[A-Z]{2}-\\d+$" }, price: { multipleOf: 0.01 } } } },
  }
  expect(faultOf(schema, '{"id":1.0,"items":[{"sku":"AB-12","price":19.99}]}')).toBeNull()
  expect(faultOf(schema, '{"items":[]}')).toBe('the payload must have a member "id"')
  expect(faultOf(schema, '{"id":"1"}')).toBe("/id must be an integer")
  expect(faultOf(schema, '{"id":1,"items":[{},{"sku":"ab-12"}]}')).toBe("/items/1/sku must match ^[A-Z]{2}-\\d+$")
  expect(faultOf(schema, '{"id":1,"items":[{"price":0.015}]}')).toBe("/items/0/price must be a multiple of 0.01")
  expect(faultOf(schema, '{"id":1,"a/b":2}')).toBe("/a~1b must be 1")
  expect(faultOf(schema, '{"id":1,"more":2}')).toBe("/more must not be present")
})

it("compares numbers to the last digit", () => {
  const big = "12345678901234567890123"
  const schema = Result.getOrThrow(compileSchema(`{"properties":{"n":{"maximum":${big},"multipleOf":3}}}`))
  expect(schema.faultOf(ownJson(`{"n":12345678901234567890123}`))).toBeNull()
  expect(schema.faultOf(ownJson(`{"n":12345678901234567890126}`))).toBe(`/n must be at most ${big}`)
  expect(schema.faultOf(ownJson(`{"n":12345678901234567890121}`))).toBe("/n must be a multiple of 3")
})

it.each([
  ['{"type": }', "not valid JSON"],
  ["[]", "it must be a schema"],
  ['{"type":"text"}', "/type must be one or more of"],
  ['{"properties":{"a":{"requierd":["b"]}}}', "/properties/a/requierd is not a keyword that is understood here"],
  ['{"properties":{"a":{"minimum":"1"}}}', "/properties/a/minimum must be a number"],
  ['{"items":[{}]}', "/items is one schema"],
  ['{"$ref":"https://example.com/schema"}', "/$ref must name a schema of this document"],
  ['{"$ref":"#/$defs/none"}', "/$ref names no schema of this document"],
  ['{"pattern":"(?=a)"}', "/pattern is a pattern that is not understood here"],
  ['{"$schema":"http://json-schema.org/draft-07/schema#"}', "/$schema must be"],
  [`{"title":"${"x".repeat(MAX_SCHEMA_BYTES)}"}`, "at most 32,768 bytes"],
])("refuses %.60s with its place", (schema, message) => {
  expect(schemaRefusal(schema)).toContain(message)
})

it("names the line of a schema that is not JSON", () => {
  expect(schemaRefusal('{\n  "type" "object"\n}')).toContain("line 2, column 10")
})

const doubling = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [`d${n}`, { allOf: [0, 1].map(() => ({ $ref: `#/$defs/d${n + 1}` })) }]),
)

it.each([
  ["names itself", { $ref: "#" }],
  ["doubles at each level", { $ref: "#/$defs/d0", $defs: { ...doubling, d40: true } }],
  ["compares long lists", { uniqueItems: true, properties: { list: { uniqueItems: true } } }],
])("ends the check of a schema that %s", (_, schema) => {
  const list = Array.from({ length: 30_000 }, (__, n) => n)
  expect(faultOf(schema, JSON.stringify({ list }))).toBe("it takes too long to check")
})

const list = (item: string) => `{"list":[${Array.from({ length: 10_000 }, () => item).join(",")}]}`
const onItems = (items: object) => ({ properties: { list: { items } } })
const manyNames = (value: object) => Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`a${n}`, value]))
const nested = (inner: string) => `{"list":${"[".repeat(900)}${inner}${",1]".repeat(900)}}`
const unique = { properties: { list: { uniqueItems: true } } }

it.each([
  ["a long pattern on many short texts", onItems({ not: { pattern: "^a{1990}" } }), list('""')],
  ["many dependent names on many objects", onItems({ dependentRequired: manyNames([]) }), list("{}")],
  ["many dependent schemas on many objects", onItems({ dependentSchemas: manyNames({}) }), list("{}")],
  ["a long text deep in unique items", unique, nested(`"${"x".repeat(50_000)}"`)],
  ["a long name deep in unique items", unique, nested(`{"${"x".repeat(50_000)}":1}`)],
])("counts the work for %s", (_, schema, payload) => {
  expect(faultOf(schema, payload)).toBe("it takes too long to check")
})

const eventOf = (payload: JsonObject): NewEvent => ({
  payload,
  text: jsonText(payload),
  empty: false,
  fingerprint: "00",
})

it("marks what does not follow, and leaves other events as they were sent", async () => {
  const schema = Result.getOrThrow(compileSchema('{"properties":{"n":{"type":"number"}}}'))
  const sent = ['{"n":1.50}', '{"n":"x","_valid":true}', '{"_raw":"x","_parse_error":"y"}'].map((text) =>
    eventOf(ownJson(text) as JsonObject),
  )
  const marked = await markedBy(schema, sent)
  expect(marked[0]).toBe(sent[0])
  expect(marked.map(({ text }) => text)).toEqual([
    '{"n":1.50}',
    '{"n":"x","_valid":false,"_schema_error":"/n must be a number"}',
    '{"_raw":"x","_parse_error":"y","_valid":false,"_schema_error":"the body could not be read as an object"}',
  ])
  for (const { payload, text } of marked) expect(jsonText(payload)).toBe(text)
  expect(await markedBy(undefined, sent)).toBe(sent)
})

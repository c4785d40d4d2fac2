import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { describe } from "vitest"
import type { Json, JsonObject } from "../../src/json/Json.ts"
import { isEmptyPayload, isFilled } from "../../src/event/Payload.ts"
import { parseJson } from "../../src/json/ParseJson.ts"

const json = (text: string): Json => Result.getOrThrow(parseJson(text))

describe("Payload", () => {
  it.each(["null", '""', '" \\t\\r\\n\\u00a0"', "[]", "{}", '[null,"",[[]],{},[" ",[{}]]]'])(
    "isFilled is false for %s",
    (text) => assert.isFalse(isFilled(json(text))),
  )
  it.each(["false", "true", "0", '"0"', '"\\u0000"', '{"a":null}', '[null,["",[0]]]', "[false]"])(
    "isFilled is true for %s",
    (text) => assert.isTrue(isFilled(json(text))),
  )
  it("isFilled goes 100,000 levels down", () => {
    const deep = json("[]")
    let value: Json = deep
    for (let level = 0; level < 100_000; level++) value = [value]
    assert.isFalse(isFilled(value))
  })
  it.each(["{}", '{"a":"","b":[null]}', '{"_raw":"x","_parse_error":"y"}', '{"_value":5}', '{"_charset_":"utf-8"}'])(
    "isEmptyPayload is true for %s",
    (text) => assert.isTrue(isEmptyPayload(json(text) as JsonObject)),
  )
  it.each(['{"a":"","b":0}', '{"_raw":"x","q":"1"}', '{"_charset_":"utf-8","a":"1"}', '{"":"x"}'])(
    "isEmptyPayload is false for %s",
    (text) => assert.isFalse(isEmptyPayload(json(text) as JsonObject)),
  )
})

import { createHash } from "node:crypto"
import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { describe } from "vitest"
import { fingerprint, fingerprintedEvent } from "../../src/event/Fingerprint.ts"
import type { JsonObject } from "../../src/json/Json.ts"
import { parseJson } from "../../src/json/ParseJson.ts"

const print = (text: string): string => fingerprint(Result.getOrThrow(parseJson(text)) as JsonObject)

describe("fingerprint", () => {
  it("fingerprint is the SHA-256 of the documented canonical text", () => {
    assert.strictEqual(
      print('{ "b" : [1.0], "a" : "д" }'),
      createHash("sha256").update('{"a":"д","b":[1.0]}').digest("hex"),
    )
  })
  it.for(['{"b":[1.0],"a":"д"}', '{"b":1.0,"a":"д"}', '{"_raw":"x","_parse_error":"one"}', "{}"])(
    "fingerprintedEvent of %s has its text and its fingerprint",
    (text) => {
      const event = fingerprintedEvent(Result.getOrThrow(parseJson(text)) as JsonObject)
      assert.deepStrictEqual([event.text, event.fingerprint], [text, print(text)])
    },
  )
  it.for([
    ['{"a":1,"b":{"c":2,"d":3}}', ' { "b": {"d":3, "c":2},\n"a":1 }'],
    ['{"a":"\\u0434\\/"}', '{"a":"д/"}'],
    ['{"_raw":"x","_parse_error":"one"}', '{"_raw":"x","_parse_error":"another"}'],
    ['{"_value":[1],"_parse_error":"one"}', '{"_value":[ 1 ],"_parse_error":"another"}'],
  ] as const)("fingerprint of %s and %s is the same", ([one, other]) => assert.strictEqual(print(one), print(other)))
  it.for([
    ['{"a":1}', '{"a":1.0}'],
    ['{"a":1}', '{"a":"1"}'],
    ['{"a":[1,2]}', '{"a":[2,1]}'],
    ['{"a":12345678901234567890}', '{"a":12345678901234567891}'],
    ['{"a":null}', "{}"],
    ['{"_parse_error":"one"}', '{"_parse_error":"another"}'],
    ['{"_raw":"x","_parse_error":"p"}', '{"_raw":"y","_parse_error":"p"}'],
    ['{"_raw":"x","_parse_error":"p"}', '{"q":"1","_raw":"x","_parse_error":"p"}'],
  ] as const)("fingerprint of %s and %s differs", ([one, other]) => assert.notStrictEqual(print(one), print(other)))
})

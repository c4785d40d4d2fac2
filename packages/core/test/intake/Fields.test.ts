import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { describe } from "vitest"
import type { JsonObject } from "../../src/json/Json.ts"
import { jsonText } from "../../src/json/JsonText.ts"
import { gatherFields, withQueryFields } from "../../src/intake/Fields.ts"
import { parseJson } from "../../src/json/ParseJson.ts"

const object = (text: string) => Result.getOrThrow(parseJson(text)) as JsonObject

describe("Fields", () => {
  it("gatherFields collects a repeated name in a list at the position of the first", () => {
    const fields = [
      ["a", "1"],
      ["b[]", "x"],
      ["a", "2"],
      ["__proto__", "p"],
      ["a", ""],
    ] as const
    assert.strictEqual(jsonText(gatherFields(fields)), '{"a":["1","2",""],"b[]":"x","__proto__":"p"}')
  })
  it.for([
    ["{}", '{"a":[1]}', '{"a":[1]}'],
    ['{"q":"1"}', '{"a":2}', '{"q":"1","a":2}'],
    ['{"a":"1"}', '{"b":0,"a":2.0}', '{"a":["1",2.0],"b":0}'],
    ['{"a":["1","2"]}', '{"a":["3","4"]}', '{"a":["1","2","3","4"]}'],
    ['{"a":"1"}', '{"a":{"x":[]}}', '{"a":["1",{"x":[]}]}'],
    ['{"a":"1"}', '{"a":null}', '{"a":["1",null]}'],
    ['{"_raw":"1"}', '{"_raw":"text"}', '{"_raw":["1","text"]}'],
  ] as const)("withQueryFields of %s and %s is %s", ([query, body, all]) => {
    const before = jsonText(object(body))
    const [queryFields, bodyFields] = [object(query), object(body)]
    assert.strictEqual(jsonText(withQueryFields(queryFields, bodyFields)), all)
    assert.deepStrictEqual([jsonText(queryFields), jsonText(bodyFields)], [query, before])
  })
})

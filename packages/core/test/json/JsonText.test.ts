import { assert, it } from "@effect/vitest"
import { Schema } from "effect"
import { describe } from "vitest"
import { JsonNumber } from "../../src/json/Json.ts"
import type { Json } from "../../src/json/Json.ts"
import { canonicalJsonText, jsonText, jsonTexts, JsonWriting } from "../../src/json/JsonText.ts"

const ordered = new Map<string, Json>([
  ["b", new JsonNumber("1.0")],
  ["a", [null, true, false, "x", [], new Map()]],
  ["10", '\u0007"\\\n\ud800'],
])

describe("jsonText", () => {
  it("jsonText writes tokens and keys as received", () => {
    assert.strictEqual(jsonText(ordered), '{"b":1.0,"a":[null,true,false,"x",[],{}],"10":"\\u0007\\"\\\\\\n\\ud800"}')
  })
  it("canonicalJsonText sorts the keys of every object by code unit and keeps lists", () => {
    const inner = new Map<string, Json>([
      ["é", "2"],
      ["Z", "1"],
    ])
    const value = new Map<string, Json>([
      ["b", [inner, "first"]],
      ["a", null],
      ["B", "x"],
    ])
    assert.strictEqual(canonicalJsonText(value), '{"B":"x","a":null,"b":[{"Z":"1","é":"2"},"first"]}')
  })
  it.each([2, 3, 10, 23, 24, 25, 100, 1000])("canonicalJsonText sorts %i keys from any order", (count) => {
    const keys = Array.from({ length: count }, (_, n) => String((n * 7919) % count) + (n % 2 === 0 ? "é" : "Z"))
    const sorted = keys.toSorted((a, b) => (a < b ? -1 : 1))
    const object = new Map<string, Json>(keys.map((key) => [key, null]))
    assert.strictEqual(canonicalJsonText(object), `{${sorted.map((key) => `"${key}":null`).join(",")}}`)
    assert.strictEqual(jsonTexts(object).canonical, canonicalJsonText(object))
  })
  it.each([...'\0\u001f "\\/\u007f\u2028é😀'])("jsonText escapes %j as JSON.stringify does", (character) => {
    for (const text of [character, `a${character}b`, character.repeat(100)]) {
      assert.strictEqual(jsonText(text), JSON.stringify(text))
      assert.strictEqual(jsonText(new Map([[text, null]])), `{${JSON.stringify(text)}:null}`)
    }
  })
  it.prop(
    "jsonTexts writes the same as jsonText and canonicalJsonText, with and without nested values",
    [
      Schema.Array(
        Schema.Tuple([
          Schema.String,
          Schema.Union([Schema.String, Schema.Boolean, Schema.Null, Schema.Array(Schema.String)]),
        ]),
      ),
    ],
    ([entries]) => {
      const object = new Map<string, Json>(entries)
      assert.deepStrictEqual(jsonTexts(object), { text: jsonText(object), canonical: canonicalJsonText(object) })
    },
  )
  it("jsonText writes a value with 100,000 levels", () => {
    let value: Json = "x"
    for (let level = 0; level < 100_000; level++) value = level % 2 === 0 ? [value] : new Map([["k", value]])
    assert.strictEqual(jsonText(value).length, 50_000 * 2 + 50_000 * 6 + 3)
  })
})

const VALUES: ReadonlyArray<readonly [string, Json]> = [
  [
    "what has everything",
    new Map<string, Json>([
      ["z", [ordered, "x", []]],
      ["", ordered],
      ["a", null],
    ]),
  ],
  ["a scalar", "x"],
  ["empty lists", Array.from({ length: 5_000 }, () => [])],
  ["numbers", Array.from({ length: 5_000 }, (_, n) => new JsonNumber(`${n}`))],
  ["keys", new Map(Array.from({ length: 5_000 }, (_, n) => [`${(n * 7919) % 5_000}`, n % 2 === 0] as const))],
  [
    "objects",
    Array.from(
      { length: 2_000 },
      (_, n) =>
        new Map([
          [
            `${n % 3}`,
            new Map([
              ["b", "\ud800"],
              ["a", ""],
            ]),
          ],
        ]),
    ),
  ],
]

describe("JsonWriting", () => {
  it.each(VALUES)("writes the same in pieces of any length: %s", (_, value) => {
    for (const sorted of [false, true]) {
      const whole = sorted ? canonicalJsonText(value) : jsonText(value)
      for (const characters of [1, 2, 17, 1_000, 100_000]) {
        const writing = new JsonWriting(value, sorted)
        let pieces = 1
        let text = writing.advance(characters)
        for (; text === undefined; pieces++) text = writing.advance(characters)
        assert.strictEqual(text, whole)
        // No token of these values is longer than 16 characters; a value that is small next to a piece is written into
        // it whole.
        assert.isAtLeast(pieces, Math.floor(whole.length / (characters * 2 + 16)))
      }
    }
  })
})

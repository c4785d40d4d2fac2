import { assert, it } from "@effect/vitest"
import { Result } from "effect"
import { describe } from "vitest"
import { fingerprintedEvent } from "../../src/event/Fingerprint.ts"
import type { JsonObject } from "../../src/json/Json.ts"
import { emptyJsonNotes, parseJson } from "../../src/json/ParseJson.ts"
import { parseSubmission } from "../../src/intake/ParseSubmission.ts"
import { Random, Seed } from "../intake/Random.ts"

const KEYS = ["a", "aa", "b", "", "é", "a\\u0062", "a\\\\", '\\"', "\\ud800", "\uFFFD", "a, a longer key"]
const VALUES = [
  "1",
  "-1.50e3",
  "true",
  "null",
  '""',
  '"x"',
  '"\\n"',
  '"\\u0000"',
  '"a longer text, with a comma"',
  "{}",
]
const NESTED = ["[]", "[1,2]", '{"b":1,"a":2}', '[{"z":{"y":[0]}}]', "[ ]"]

/** Objects of a list mostly have the same keys; a few have white space, an escape or a repeated key. */
const list = (random: Random): ReadonlyArray<string> => {
  const usual = random.list(5, () => random.pick(KEYS.slice(0, 5)))
  const space = () => (random.below(40) === 0 ? " " : "")
  return Array.from({ length: 1 + random.below(4) }, () => {
    const members = usual.map((key) => {
      const value = random.pick(random.below(8) === 0 ? NESTED : VALUES)
      return `${space()}"${random.below(8) === 0 ? random.pick(KEYS) : key}"${space()}:${space()}${value}`
    })
    return `{${members.join(",")}${space()}}`
  })
}

const parsed = (text: string) => Result.getOrThrow(parseJson(text)) as JsonObject
const submitted = (body: string) =>
  parseSubmission({ body: Buffer.from(body), contentType: "application/json", query: "", encoding: null }).events

describe("JsonSlices", () => {
  it.prop(
    "an object in a list is parsed, sliced and fingerprinted as if it were sent alone",
    [Seed],
    ([seed]) => {
      const random = new Random(seed)
      const objects = list(random)
      const expected = objects.map((object) => fingerprintedEvent(parsed(Buffer.from(object).toString())))
      assert.deepStrictEqual(submitted(`[${objects.join(random.pick([",", " , "]))}]`), expected)
      assert.deepStrictEqual(submitted(objects[0]!), expected.slice(0, 1))
    },
    { arbitrary: { runs: 3000 } },
  )

  it.prop(
    "a damaged list is refused where JSON.parse refuses it, although keys are predicted from the previous object",
    [Seed],
    ([seed]) => {
      const random = new Random(seed)
      const sent = `[${list(random).join(",")}]`
      const at = random.below(sent.length + 1)
      const put = random.pick(["", '"', "\\", "\\u", ":", ",", "{", "}", "a", "\n"])
      const damaged = sent.slice(0, at) + put + sent.slice(at + random.below(2))
      let valid = true
      try {
        JSON.parse(damaged)
      } catch {
        valid = false
      }
      assert.strictEqual(Result.isSuccess(parseJson(damaged, { notes: emptyJsonNotes() })), valid, damaged)
    },
    { arbitrary: { runs: 3000 } },
  )

  it.each([
    ["{}", '{"b":1,"a":2}', '{"c":1}'],
    ['{"\\\\":1}', '{"\\":\\"":1}'],
    ['{"\uFFFD":1,"\uFFFD":2,"a":3}', '{"a":1}'],
    ['{"a":1,"b":2}', '{"a":1}', '{"a":1,"b":2,"c":3}'],
  ])("%s and %s are read as if each was sent alone", (...objects) => {
    assert.deepStrictEqual(
      submitted(`[${objects.join(",")}]`),
      objects.map((object) => fingerprintedEvent(parsed(object))),
    )
  })

  it("JsonSlices does not match an escaped key without its escape", () => {
    const notes = emptyJsonNotes()
    assert.isTrue(Result.isFailure(parseJson('[{"a\\"b":1},{"a"b":1}]', { notes })))
  })

  it.each(['{"b":1,"a":"x"}', '{"b":[1.0],"a":{}}', '{"key with é":1}'])(
    "the text of %s is a slice of its body",
    (object) => {
      const body = `[${object},${object}]`
      assert.deepStrictEqual(
        submitted(body).map(({ text }) => text),
        [object, object],
      )
    },
  )
})

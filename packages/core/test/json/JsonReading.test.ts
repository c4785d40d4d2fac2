/** A text is read in pieces, with the same result. */
import type { Json, JsonObject } from "@data-cabinet/core/json/Json"
import { jsonText } from "@data-cabinet/core/json/JsonText"
import { emptyJsonNotes, JsonReading } from "@data-cabinet/core/json/ParseJson"
import { assert, it } from "vitest"

const TEXTS = [
  '{"a":1.0,"b":[1,{"c":null,"d":[[],{}]},"x"],"a":2,"\uFFFD":1,"\uFFFD":2,"e":"\\u0000"}',
  '[{"a":1,"b":2},{"a":1,"b":3},{ "a":1},{},{"a":{"b":[true,false]}}]',
  '\uFEFF {"a":\n\n [1,2,}',
  '{"a":"unfinished',
  "[[[[[[[[1]]]]]]]]",
  "17",
  "",
]

const readIn = (text: string, characters: number) => {
  const notes = emptyJsonNotes()
  const reading = new JsonReading(text, { notes })
  let pieces = 1
  let outcome = reading.advance(characters)
  for (; outcome === undefined; pieces++) outcome = reading.advance(characters)
  const objects = outcome._tag !== "Success" ? [] : Array.isArray(outcome.success) ? outcome.success : [outcome.success]
  const texts = objects.flatMap((object: Json, place) =>
    object instanceof Map ? [notes.sent.textsIn(text).of(object as JsonObject, place)] : [],
  )
  const { sent: _, ...told } = notes
  return { pieces, told, texts, outcome: outcome._tag === "Success" ? jsonText(outcome.success) : outcome.failure }
}

it("JsonReading has the same result with pieces of any length", () => {
  for (const text of TEXTS) {
    const { pieces: _, ...whole } = readIn(text, Number.POSITIVE_INFINITY)
    for (const characters of [0, 1, 2, 3, 5, 8, 1000]) {
      const { pieces, ...read } = readIn(text, characters)
      assert.deepStrictEqual(read, whole, `${text} by ${characters}`)
      if (characters === 0 && text.length > 40 && !text.includes("unfinished")) assert.isAbove(pieces, 5)
    }
  }
})

it("JsonReading reads no more in one piece than its limit and the current value", () => {
  const reading = new JsonReading(`[${"1,".repeat(10_000)}1]`)
  let pieces = 1
  while (reading.advance(100) === undefined) pieces++
  assert.isAtLeast(pieces, 20_000 / 103)
})

/** Explains why a JSON value is neither an object nor a list of objects, and where. */
import { isJsonList, JsonNumber } from "../json/Json.ts"
import type { Json } from "../json/Json.ts"
import type { JsonNotes } from "../json/ParseJson.ts"
import { positionInWords, textPosition } from "../text/TextPosition.ts"

/** Null for an object and for a non-empty list that contains only objects. `notes` come from parsing `text`. */
export const notAnObject = (value: Json, text: string, notes: JsonNotes): string | null => {
  const at = (offset: number) =>
    `at ${positionInWords(textPosition(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text, offset))}`
  if (value instanceof Map) return null
  if (!isJsonList(value)) {
    return `an object or a list of objects was expected, but this is ${kindOfJson(value)}, ${at(notes.valueOffset)}`
  }
  if (value.length === 0) return `a list of objects was expected, but it is empty, ${at(notes.valueOffset)}`
  const wrong = value.findIndex((item) => !(item instanceof Map))
  if (wrong === -1) return null
  return `a list of objects was expected, but item ${wrong + 1} is ${kindOfJson(value[wrong]!)}, ${at(notes.itemOffsets[wrong] ?? 0)}`
}

/** What a JSON value is, in words. */
export const kindOfJson = (value: Json): string => {
  if (value === null) return "null"
  if (value instanceof JsonNumber) return "a number"
  if (isJsonList(value)) return "a list"
  if (typeof value === "boolean") return String(value)
  return typeof value === "string" ? "text" : "an object"
}

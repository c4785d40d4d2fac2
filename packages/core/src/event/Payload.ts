/**
 * Properties of an event's payload: which of its keys belong to the service, and whether any field is filled. An event
 * without a filled field is empty: it is stored, but not delivered.
 */
import { isJsonList, JsonNumber } from "../json/Json.ts"
import type { Json, JsonObject } from "../json/Json.ts"

/**
 * The keys under which a body that is not an object is stored: its text, its JSON value, and the reason in words. They
 * never count as filled fields and never become columns, even when a sender uses these names for its own fields; those stay
 * in the payload as sent.
 */
export const SERVICE_KEYS = ["_raw", "_value", "_parse_error"] as const

/** True for one of `SERVICE_KEYS`. */
export const isServiceKey = (key: string): boolean => key === "_raw" || key === "_value" || key === "_parse_error"

/**
 * Whether a value counts as filled: anything but null, text that is only white space, an empty object, and a list that
 * contains only those. `false`, `0` and an object with any key are filled.
 */
export const isFilled = (value: Json): boolean => {
  if (!isJsonList(value)) return isFilledItem(value)
  const waiting: Array<ReadonlyArray<Json>> = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    for (const item of next) {
      if (isJsonList(item)) waiting.push(item)
      else if (isFilledItem(item)) return true
    }
  }
  return false
}

const isFilledItem = (value: Json): boolean => {
  if (typeof value === "string") return value.trim() !== ""
  if (value instanceof Map) return value.size > 0
  return value !== null && (typeof value === "boolean" || value instanceof JsonNumber)
}

/** Whether a payload has no filled field. A form's `_charset_` describes how to decode the other fields and does not count. */
export const isEmptyPayload = (payload: JsonObject): boolean => {
  for (const [key, value] of payload) {
    if (key !== "_charset_" && !isServiceKey(key) && isFilled(value)) return false
  }
  return true
}

/**
 * What an event's payload says about itself: which of its keys are the service's own, and whether anything in it was
 * filled in. An event without a filled field is empty: it is kept, but it is not delivered.
 */
import { isJsonList, JsonNumber } from "../json/Json.ts"
import type { Json, JsonObject } from "../json/Json.ts"

/**
 * Where a body that was not an object is kept: its text, its JSON value, and the reason in words. Never filled fields and
 * never columns, also when a sender uses these names for fields of his own; they stay in the payload as sent.
 */
export const SERVICE_KEYS = ["_raw", "_value", "_parse_error"] as const

/** True for one of `SERVICE_KEYS`. */
export const isServiceKey = (key: string): boolean => key === "_raw" || key === "_value" || key === "_parse_error"

/**
 * Whether somebody filled this in: anything but null, text of nothing but white space, an empty object, and a list of
 * only those. `false`, `0` and an object with any key are filled.
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

/** Whether a payload has no filled field. A form's `_charset_` says how to read the others and is not counted as one. */
export const isEmptyPayload = (payload: JsonObject): boolean => {
  for (const [key, value] of payload) {
    if (key !== "_charset_" && !isServiceKey(key) && isFilled(value)) return false
  }
  return true
}

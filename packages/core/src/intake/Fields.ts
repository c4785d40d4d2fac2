/** Builds a payload from named values: repeated names become lists, and no value replaces another. */
import { isJsonList } from "../json/Json.ts"
import type { Json, JsonObject } from "../json/Json.ts"

/**
 * Returns the fields in the order of their first appearance. A name that occurs once has its plain value; a name that
 * occurs several times has a list of its values in order. The values of a form are never lists themselves.
 */
export const gatherFields = (fields: ReadonlyArray<readonly [name: string, value: Json]>): Map<string, Json> => {
  const gathered = new Map<string, Json>()
  const lists = new Map<string, Array<Json>>()
  for (const [name, value] of fields) {
    const held = gathered.get(name)
    if (held === undefined) gathered.set(name, value)
    else {
      let list = lists.get(name)
      if (list === undefined) {
        list = [held]
        lists.set(name, list)
        gathered.set(name, list)
      }
      list.push(value)
    }
  }
  return gathered
}

/**
 * Merges the fields of the query string and those of the body, in this order. A name in both gets a list: the values of the
 * query, then those of the body. If the body's value is already a list, its items are appended one by one.
 */
export const withQueryFields = (query: JsonObject, body: JsonObject): JsonObject => {
  if (query.size === 0) return body
  const all = new Map(query)
  for (const [name, value] of body) {
    const held = all.get(name)
    all.set(name, held === undefined ? value : [...listOf(held), ...listOf(value)])
  }
  return all
}

/** The same object if it has none of the fields. */
export const withoutFields = (object: JsonObject, names: ReadonlyArray<string>): JsonObject => {
  if (!names.some((name) => object.has(name))) return object
  const kept = new Map(object)
  for (const name of names) kept.delete(name)
  return kept
}

const listOf = (value: Json): ReadonlyArray<Json> => (isJsonList(value) ? value : [value])

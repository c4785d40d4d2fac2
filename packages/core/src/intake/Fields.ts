/** From named values to a payload: what comes several times becomes a list, and nothing replaces anything. */
import { isJsonList } from "../json/Json.ts"
import type { Json, JsonObject } from "../json/Json.ts"

/**
 * Fields in the order of their first appearance. A name that came once has its plain value, a name that came several
 * times a list of them in their order. Values of a form are never lists themselves.
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
 * The address's fields, then the body's. A name in both has a list: the values of the query, then those of the body,
 * whose items follow one by one where the body's value is a list already.
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

const listOf = (value: Json): ReadonlyArray<Json> => (isJsonList(value) ? value : [value])

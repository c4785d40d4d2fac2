/**
 * Writes a JSON value as text: number tokens as they came, keys in the order they have, nothing rounded and nothing
 * moved. It keeps its own stack, so that the depth of a value is bounded by memory and not by the caller's stack.
 */
import { isJsonList, JsonNumber } from "./Json.ts"
import type { Json, JsonObject } from "./Json.ts"

/** Compact text: no spaces, strings escaped by the rules of `JSON.stringify`. */
export const jsonText = (value: Json): string => write(value, false)

/**
 * Text by which two values are compared: as `jsonText`, but the keys of every object stand in the order of their UTF-16
 * code units. Lists keep their order and numbers their tokens, so `1.0` and `1` differ.
 */
export const canonicalJsonText = (value: Json): string => write(value, true)

interface OpenList {
  readonly list: ReadonlyArray<Json>
  next: number
}
interface OpenObject {
  readonly entries: Iterator<readonly [string, Json]>
  first: boolean
}

const write = (root: Json, sorted: boolean): string => {
  const open: Array<OpenList | OpenObject> = []
  let text = ""
  let value = root
  for (;;) {
    if (typeof value === "string") text += quoted(value)
    else if (value === null) text += "null"
    else if (typeof value === "boolean") text += value ? "true" : "false"
    else if (value instanceof JsonNumber) text += value.token
    else if (isJsonList(value)) {
      text += "["
      open.push({ list: value, next: 0 })
    } else {
      text += "{"
      open.push({ entries: entriesOf(value, sorted), first: true })
    }
    for (;;) {
      const top = open[open.length - 1]
      if (top === undefined) return text
      if ("list" in top) {
        if (top.next < top.list.length) {
          if (top.next > 0) text += ","
          value = top.list[top.next++]!
          break
        }
        text += "]"
      } else {
        const entry = top.entries.next()
        if (entry.done !== true) {
          text += (top.first ? "" : ",") + quoted(entry.value[0]) + ":"
          top.first = false
          value = entry.value[1]
          break
        }
        text += "}"
      }
      open.pop()
    }
  }
}

const entriesOf = (object: JsonObject, sorted: boolean): Iterator<readonly [string, Json]> =>
  sorted && object.size > 1 ? [...object].toSorted(byKey)[Symbol.iterator]() : object.entries()

const byKey = (a: readonly [string, Json], b: readonly [string, Json]): number => (a[0] < b[0] ? -1 : 1)

/** Most strings need no escape; to see that costs less than a call of `JSON.stringify`. */
const quoted = (value: string): string => {
  if (value.length > 64) return JSON.stringify(value)
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 32 || code === 34 || code === 92 || code >= 0xd800) return JSON.stringify(value)
  }
  return `"${value}"`
}

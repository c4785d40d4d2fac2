/**
 * Writes a JSON value as text: number tokens as sent, keys in their order, nothing rounded or reordered. An explicit
 * stack lets memory, not the call stack, limit the depth of a value; values without nesting, which are the most common,
 * do without it. A long text can be written in pieces, so that other requests need not wait for all of it.
 */
import { isJsonList, JsonNumber } from "./Json.ts"
import { inKeyOrder, KeySort } from "./KeyOrder.ts"
import type { Json, JsonObject } from "./Json.ts"

/** Compact text: no spaces, strings escaped as by `JSON.stringify`. */
export const jsonText = (value: Json): string => scalarText(value) ?? write(value, false)

/**
 * Text for comparing two values: as `jsonText`, but the keys of every object are sorted by their UTF-16 code units. Lists
 * keep their order and numbers their tokens, so `1.0` and `1` differ.
 */
export const canonicalJsonText = (value: Json): string => scalarText(value) ?? write(value, true)

/** The text of an object, and its canonical text. */
export interface JsonTexts {
  readonly text: string
  readonly canonical: string
}

/** `jsonText` and `canonicalJsonText` of one object; members without nesting are written once for both. */
export const jsonTexts = (object: JsonObject): JsonTexts => {
  const keys: Array<string> = []
  const members: Array<string> = []
  let text = ""
  for (const [key, value] of object) {
    const scalar = scalarText(value)
    if (scalar === undefined) return { text: write(object, false), canonical: write(object, true) }
    const member = quoted(key) + ":" + scalar
    text += (text === "" ? "{" : ",") + member
    keys.push(key)
    members.push(member)
  }
  if (text === "") return { text: "{}", canonical: "{}" }
  let canonical = ""
  for (const place of inKeyOrder(keys)) canonical += (canonical === "" ? "{" : ",") + members[place]!
  return { text: `${text}}`, canonical: `${canonical}}` }
}

/** Undefined for a list or an object. */
const scalarText = (value: Json): string | undefined => {
  if (typeof value === "string") return quoted(value)
  if (value === null) return "null"
  if (typeof value === "boolean") return value ? "true" : "false"
  return value instanceof JsonNumber ? value.token : undefined
}

const write = (root: Json, sorted: boolean): string => new JsonWriting(root, sorted).advance(Number.POSITIVE_INFINITY)!

/** Undefined for an object that contains a list or an object. */
const flatText = (object: JsonObject, sorted: boolean): string | undefined => {
  let text = ""
  for (const [key, value] of sorted ? sortedEntries(object) : object) {
    const scalar = scalarText(value)
    if (scalar === undefined) return undefined
    text += (text === "" ? "{" : ",") + quoted(key) + ":" + scalar
  }
  return text === "" ? "{}" : `${text}}`
}

/**
 * Undefined for a list that contains a list or an object. Uses join: concatenating very many pieces would build a chain of
 * as many strings.
 */
const flatListText = (list: ReadonlyArray<Json>): string | undefined => {
  const texts: Array<string> = []
  for (const item of list) {
    const scalar = scalarText(item)
    if (scalar === undefined) return undefined
    texts.push(scalar)
  }
  return `[${texts.join(",")}]`
}

interface OpenList {
  readonly list: ReadonlyArray<Json>
  next: number
}
interface OpenObject {
  readonly entries: Iterator<readonly [string, Json]>
  first: boolean
}

/** A list or an object with more characters than this share of a piece is not written in a single step. */
const SMALL_PART = 1 / 16

/** Comparing two keys takes as long as writing this many characters. */
const COMPARISON_COST = 4

/** Writes one value in pieces. */
export class JsonWriting {
  readonly #sorted: boolean
  readonly #open: Array<OpenList | OpenObject> = []
  readonly #written: Array<string> = []
  /** Sorts the keys of the object that is written next, if it has many. */
  #sort: KeySort | undefined
  /** The value that is written next. */
  #value: Json

  /** `sorted`: in the format of `canonicalJsonText`. */
  constructor(root: Json, sorted: boolean) {
    this.#value = root
    this.#sorted = sorted
  }

  /** Writes about this many characters; returns undefined if more remain. */
  advance(characters: number): string | undefined {
    const open = this.#open
    const sorted = this.#sorted
    const small = characters * SMALL_PART
    let text = ""
    let value = this.#value
    let sort = this.#sort
    while (text.length < characters) {
      const whole =
        scalarText(value) ?? (sort === undefined && sizeOf(value) <= small ? flat(value, sorted) : undefined)
      if (sort !== undefined) {
        const keys = sort.advance(characters / COMPARISON_COST)
        if (keys === undefined) return undefined
        text += "{"
        open.push({ entries: entriesOf(value as JsonObject, keys), first: true })
        this.#sort = sort = undefined
      } else if (whole !== undefined) text += whole
      else if (isJsonList(value)) {
        text += "["
        open.push({ list: value, next: 0 })
      } else {
        const object = value as JsonObject
        if (sorted && object.size > small) {
          this.#sort = new KeySort([...object.keys()])
          break
        }
        text += "{"
        open.push({ entries: sorted ? sortedEntries(object)[Symbol.iterator]() : object.entries(), first: true })
      }
      for (;;) {
        const top = open[open.length - 1]
        if (top === undefined) return this.#wholeWith(text)
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
    this.#value = value
    // V8 flattens a concatenated string when it is first read: here for each piece, instead of everything at the end.
    text.charCodeAt(0)
    this.#written.push(text)
    return undefined
  }

  #wholeWith(last: string): string {
    return this.#written.length === 0 ? last : this.#written.join("") + last
  }
}

function* entriesOf(object: JsonObject, keys: Iterable<string>): Generator<readonly [string, Json]> {
  for (const key of keys) yield [key, object.get(key)!]
}

const sizeOf = (value: Json): number => (value instanceof Map ? value.size : (value as ReadonlyArray<Json>).length)

const flat = (value: Json, sorted: boolean): string | undefined =>
  value instanceof Map ? flatText(value, sorted) : flatListText(value as ReadonlyArray<Json>)

const sortedEntries = (object: JsonObject): ReadonlyArray<readonly [string, Json]> => {
  const entries = [...object]
  return inKeyOrder(entries.map(([key]) => key)).map((place) => entries[place]!)
}

/** Most strings need no escape; detecting that costs less than a call of `JSON.stringify`. */
const quoted = (value: string): string => {
  if (value.length > 64) return JSON.stringify(value)
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at)
    if (code < 32 || code === 34 || code === 92 || (code & 0xf800) === 0xd800) return JSON.stringify(value)
  }
  return `"${value}"`
}

/**
 * A lossless JSON parser: it keeps every digit of a number, the order of keys, and keys like `__proto__`. It uses an
 * explicit stack, fails at a nesting limit instead of crashing, and reports where and why a text is not JSON. A long
 * text can be parsed in pieces, so that other requests need not wait for all of it.
 */
import { Result } from "effect"
import { EMPTY_LIST, EMPTY_OBJECT, type Json } from "./Json.ts"
import { bomLength, JsonFault, JsonScanner } from "./JsonScanner.ts"
import { JsonSlices } from "./JsonSlices.ts"
import { positionInWords, textPosition } from "../text/TextPosition.ts"
import type { TextPosition } from "../text/TextPosition.ts"

/** Deeper texts are refused: they are never sent on purpose, and later readers may be recursive. */
export const MAX_JSON_DEPTH = 512

/** Why a text is not JSON, and where. */
export interface JsonSyntaxError extends TextPosition {
  readonly _tag: "JsonSyntaxError"
  /** The reason in words, without the position. */
  readonly reason: string
}

/** Options of the parser. */
export interface ParseJsonOptions {
  /** How many objects and lists may be open at once; by default `MAX_JSON_DEPTH`. */
  readonly maxDepth?: number
  /** Filled in while parsing, for callers that report on a body. */
  readonly notes?: JsonNotes
}

/** Facts about a text, recorded while it is parsed. */
export interface JsonNotes {
  /** How many U+0000 and lone surrogates became U+FFFD. */
  replaced: number
  /** The offset of the whole value. */
  valueOffset: number
  /** The offsets of the items, if the whole value is a list. */
  readonly itemOffsets: Array<number>
  /** The source text of the whole value, or of the items of a list of objects. */
  readonly sent: JsonSlices
  /** The memory that the value takes besides its texts, in units of `CELL_BYTES`. */
  cells: number
}

/**
 * The memory of a number with its token; a key with its place in an object takes twice this much, an object or a list
 * three times.
 */
export const CELL_BYTES = 64

/** Notes to be filled in by the parser. */
export const emptyJsonNotes = (): JsonNotes => ({
  replaced: 0,
  valueOffset: 0,
  itemOffsets: [],
  sent: new JsonSlices(),
  cells: 0,
})

/**
 * Parses one JSON text; a leading byte order mark is skipped. A repeated key in an object has its last value, in the
 * position of the first. One exception: a key that contains U+FFFD may stand for several keys that differed as sent, so
 * the second becomes `key2`, the third `key3`, and nothing is lost.
 */
export const parseJson = (text: string, options?: ParseJsonOptions): Result.Result<Json, JsonSyntaxError> =>
  new JsonReading(text, options).advance(Number.POSITIVE_INFINITY)!

/** Nothing that this program writes is nested deeper: a payload may hold a body of `MAX_JSON_DEPTH`, and a document payloads. */
export const OWN_DEPTH = 10_000

/** Parses JSON that this program wrote. A text that is not JSON is a fault of the program, and is thrown. */
export const ownJson = (text: string): Json => Result.getOrThrow(parseJson(text, { maxDepth: OWN_DEPTH }))

/** Parses one JSON text in pieces. */
export class JsonReading {
  readonly #text: string
  readonly #start: number
  readonly #notes: JsonNotes | undefined
  readonly #state: ReadState

  constructor(text: string, options?: ParseJsonOptions) {
    this.#text = text
    this.#start = bomLength(text)
    this.#notes = options?.notes
    this.#state = {
      scanner: new JsonScanner(text, this.#start),
      maxDepth: options?.maxDepth ?? MAX_JSON_DEPTH,
      open: [],
      keys: [],
      sentMarks: text.includes("\uFFFD"),
      apart: new Map(),
      level: -1,
      place: 0,
      cells: 0,
    }
  }

  /** Reads about this many more characters; returns the result, or undefined if more remain. */
  advance(characters: number): Result.Result<Json, JsonSyntaxError> | undefined {
    const { scanner } = this.#state
    const start = this.#start
    try {
      const value = read(this.#state, start, this.#notes, scanner.at + characters)
      if (value === undefined) return undefined
      if (this.#notes !== undefined) {
        this.#notes.replaced = scanner.replaced
        this.#notes.cells = this.#state.cells
      }
      return Result.succeed(value)
    } catch (fault) {
      if (!(fault instanceof JsonFault)) throw fault
      const position = textPosition(start === 0 ? this.#text : this.#text.slice(start), fault.at - start)
      return Result.fail({ _tag: "JsonSyntaxError", reason: fault.reason, ...position })
    }
  }
}

/** The complete message: the error and its position. */
export const jsonErrorInWords = (error: JsonSyntaxError): string =>
  `not valid JSON: ${error.reason}, at ${positionInWords(error)}`

interface ReadState {
  readonly scanner: JsonScanner
  readonly maxDepth: number
  readonly open: Array<Array<Json> | Map<string, Json>>
  readonly keys: Array<string>
  /** Whether the text as sent contains U+FFFD. */
  readonly sentMarks: boolean
  readonly apart: Map<Map<string, Json>, Map<string, number>>
  /** The number of open containers directly inside the whole value or, if that is a list, directly inside one of its items. */
  level: number
  /** The index of the current member, if that container is an object. */
  place: number
  cells: number
}

/** Undefined if it stopped before the end, at a value that begins after `stop`. */
const read = (state: ReadState, start: number, notes: JsonNotes | undefined, stop: number): Json | undefined => {
  const { maxDepth, open, keys, sentMarks, apart } = state
  const scanner: JsonScanner = state.scanner
  const sent = notes?.sent
  let { level, place, cells } = state
  value: for (;;) {
    if (scanner.at > stop) return pause(state, level, place, cells)
    const code = scanner.next()
    if (notes !== undefined && open.length < 2) {
      if (open.length === 0) notes.valueOffset = scanner.at - start
      else if (Array.isArray(open[0])) notes.itemOffsets.push(scanner.at - start)
    }
    let done: Json
    if (code === 34) done = scanner.string()
    else if (code === 123 || code === 91) {
      if (open.length >= maxDepth) scanner.refuse(`the text nests deeper than ${maxDepth} levels`)
      if (sent !== undefined && open.length === 0) level = code === 123 ? 1 : 2
      const first = ++scanner.at
      if (scanner.next() !== code + 2) {
        open.push(code === 123 ? new Map<string, Json>() : [])
        cells += 3
        if (open.length > level) sent?.nest()
        else if (code === 123 && open.length === level) {
          scanner.plain = scanner.at === first
          sent?.begin(first)
          place = 0
        }
        keys.push(code === 123 ? scanner.key(open.length === level ? place : -1) : "")
        continue value
      }
      scanner.at++
      if (code === 123 && open.length === level - 1) sent?.empty()
      done = code === 123 ? EMPTY_OBJECT : EMPTY_LIST
    } else if (code === 45 || (code >= 48 && code <= 57)) done = scanner.number()
    else if (code === 116) done = scanner.word("true", true)
    else if (code === 102) done = scanner.word("false", false)
    else if (code === 110) done = scanner.word("null", null)
    else scanner.expected("a value")
    for (;;) {
      const top = open[open.length - 1]
      const following = scanner.next()
      cells++
      if (top === undefined) {
        if (following === following) scanner.expected("the end of the text")
        state.cells = cells
        return done
      }
      if (Array.isArray(top)) {
        top.push(done)
        if (following === 44) {
          scanner.at++
          continue value
        }
        if (following !== 93) scanner.expected("a comma or ] after the item")
      } else {
        const key = keys[keys.length - 1]!
        cells += 2
        if ((sentMarks || scanner.replaced > 0) && top.has(key) && key.includes("\uFFFD")) {
          top.set(freeKey(top, key, apart), done)
          scanner.plain = false
        } else {
          const { size } = top
          if (top.set(key, done).size === size) scanner.plain = false
        }
        if (following === 44) {
          scanner.at++
          if (open.length === level) sent?.member(scanner.at)
          keys[keys.length - 1] = scanner.key(open.length === level ? ++place : -1)
          continue value
        }
        if (following !== 125) scanner.expected("a comma or } after the value")
        if (open.length === level) sent?.end(scanner.at + 1, scanner.plain)
      }
      scanner.at++
      done = top
      open.pop()
      keys.pop()
    }
  }
}

/** Saves the variables of `read` for its next call. */
const pause = (state: ReadState, level: number, place: number, cells: number): undefined => {
  state.level = level
  state.place = place
  state.cells = cells
}

/** Continues from the last number used, so that thousands of such keys do not take quadratic time. */
const freeKey = (
  object: Map<string, Json>,
  key: string,
  apart: Map<Map<string, Json>, Map<string, number>>,
): string => {
  let counts = apart.get(object)
  if (counts === undefined) apart.set(object, (counts = new Map()))
  let count = (counts.get(key) ?? 1) + 1
  while (object.has(key + count)) count++
  counts.set(key, count)
  return key + count
}

/**
 * Reads the list at a pointer (RFC 6901) in one JSON text. The whole text is held, and its length is limited.
 */
import { Result } from "effect"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { JsonReading } from "../json/ParseJson.ts"
import { type ItemSink, MAX_ITEM_LENGTH, type TextReader, tooLong } from "./FileItem.ts"
import { ESCAPES, placed } from "./JsonReader.ts"

/** The maximum length of a text that is read with a pointer, in characters. */
const MAX_POINTED_LENGTH = 33_554_432

/**
 * The maximum weight of the values of such a text that are held at once, each of about fifty bytes: a value counts as one,
 * an object as four. Sixteen million numbers in a text of that length would take a gigabyte.
 */
const MAX_WEIGHT = 4_000_000
const OBJECT_WEIGHT = 4

/** How many characters of a text with a pointer are read in one step, and how many items are emitted in one. */
const PIECE_LENGTH = 65_536
const PIECE_ITEMS = 500

/** Reads the list at a pointer in one JSON text; the number of an item serves as its line. */
export class PointedReader implements TextReader {
  readonly #sink: ItemSink
  readonly #pointer: string
  #text = ""
  #tooMuch: string | undefined
  #weight = 0
  #inString = false
  #escaped = false

  constructor(sink: ItemSink, pointer: string) {
    this.#sink = sink
    this.#pointer = pointer
  }

  push(text: string): void {
    if (this.#tooMuch !== undefined) return
    this.#weigh(text)
    if (this.#text.length + text.length > MAX_POINTED_LENGTH) {
      this.#tooMuch = `a text read with a pointer may have at most ${MAX_POINTED_LENGTH} characters`
    } else if (this.#weight > MAX_WEIGHT) {
      this.#tooMuch = `a text read with a pointer may contain at most ${MAX_WEIGHT} values (an object counts as ${OBJECT_WEIGHT})`
    }
    this.#text = this.#tooMuch === undefined ? this.#text + text : ""
  }

  /** Checks the weight before any value is created. */
  #weigh(text: string): void {
    for (let at = 0; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (this.#inString) {
        if (this.#escaped) this.#escaped = false
        else if (code === 92) this.#escaped = true
        else if (code === 34) this.#inString = false
      } else if (code === 34) this.#inString = true
      else if (code === 44 || code === 91) this.#weight++
      else if (code === 123) this.#weight += OBJECT_WEIGHT
    }
  }

  end(): void {
    const pieces = this.endInPieces()
    for (let piece = pieces.next(); piece.done !== true;) piece = pieces.next()
  }

  *endInPieces(): Generator<void> {
    const refuse = (reason: string) => this.#sink.refuse({ line: 1, column: null, reason })
    if (this.#tooMuch !== undefined) return refuse(this.#tooMuch)
    const mayReplace = ESCAPES.test(this.#text)
    const reading = new JsonReading(this.#text)
    let parsed = reading.advance(PIECE_LENGTH)
    for (; parsed === undefined; parsed = reading.advance(PIECE_LENGTH)) yield
    if (Result.isFailure(parsed)) return this.#sink.refuse(placed(parsed.failure, 1, 1))
    const found = atPointer(parsed.success, this.#pointer)
    if (found === undefined) return refuse(`there is nothing at ${this.#pointer}`)
    if (!isJsonList(found)) return refuse(`the value at ${this.#pointer} is not a list`)
    for (const [n, item] of found.entries()) {
      if (n % PIECE_ITEMS === PIECE_ITEMS - 1) yield
      if (!(item instanceof Map)) {
        this.#sink.refuse({ line: n + 1, column: null, reason: `item ${n + 1} is not an object` })
      } else if (isLonger(item, MAX_ITEM_LENGTH)) {
        this.#sink.refuse({ line: n + 1, column: null, reason: tooLong(`item ${n + 1}`) })
      } else {
        if (mayReplace && jsonText(item).includes("\uFFFD")) this.#sink.replaced?.(n + 1)
        this.#sink.item(n + 1, item)
      }
    }
  }
}

/** Whether the text written for a value has more than this many characters, not counting escapes and digits. */
const isLonger = (value: Json, most: number): boolean => {
  const open: Array<Json> = [value]
  let length = 0
  for (let next = open.pop(); next !== undefined && length <= most; next = open.pop()) {
    length += 1
    if (typeof next === "string") length += next.length
    else if (next instanceof JsonNumber) length += next.token.length
    else if (next instanceof Map) {
      for (const [key, inner] of next as JsonObject) {
        length += key.length + 4
        open.push(inner)
      }
    } else if (next !== null && isJsonList(next)) for (const inner of next) open.push(inner)
  }
  return length > most
}

/** The value at a pointer; undefined if there is none. */
export const atPointer = (root: Json, pointer: string): Json | undefined => {
  let value: Json | undefined = root
  for (const part of pointer.split("/").slice(1)) {
    const key = part.replaceAll("~1", "/").replaceAll("~0", "~")
    if (value instanceof Map) value = value.get(key)
    else if (value !== null && value !== undefined && isJsonList(value)) {
      value = /^(?:0|[1-9]\d*)$/.test(key) ? value[Number(key)] : undefined
    } else return undefined
  }
  return value
}

/** Whether a text is a JSON pointer: empty, or parts that each begin with a slash. */
export const isPointer = (text: string): boolean => /^(?:\/(?:[^~/]|~[01])*)*$/.test(text)

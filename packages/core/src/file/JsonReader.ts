/**
 * Reads JSON in pieces: a list whose objects are items, or one object. A list of any length is never held in memory
 * completely. With a pointer (RFC 6901) the whole text is held, and its length is limited.
 */
import { Result } from "effect"
import { isJsonList, type Json, JsonNumber, type JsonObject } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { JsonReading, type JsonSyntaxError, parseJson } from "../json/ParseJson.ts"
import { type ItemSink, MAX_ITEM_LENGTH, type TextReader, tooLong } from "./FileItem.ts"

/** The maximum length of a text that is read with a pointer, in characters. */
export const MAX_POINTED_LENGTH = 33_554_432

/**
 * The maximum weight of the values of such a text that are held at once, each of about fifty bytes: a value counts as one,
 * an object as four. Sixteen million numbers in a text of that length would take a gigabyte.
 */
const MAX_WEIGHT = 4_000_000
const OBJECT_WEIGHT = 4

/** How many characters of a text with a pointer are read in one step, and how many items are emitted in one. */
const PIECE_LENGTH = 65_536
const PIECE_ITEMS = 500

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9

/** Emits a value as an item, or the reason for refusing it, with the position where it begins. */
export const takeValue = (text: string, line: number, column: number, sink: ItemSink): void => {
  const parsed = parseJson(text)
  if (Result.isFailure(parsed)) return sink.refuse(placed(parsed.failure, line, column))
  if (parsed.success instanceof Map) {
    if (hasReplaced(text, parsed.success)) sink.replaced?.(line)
    sink.item(line, parsed.success)
  } else sink.refuse({ line, column, reason: "not an object" })
}

/** Escapes that may stand for what PostgreSQL cannot hold. */
const ESCAPES = /\\u(?:0000|d[89a-f])/i

/** Whether an escape in the source text became U+FFFD. */
const hasReplaced = (text: string, item: Json): boolean =>
  text.includes("\\u") && ESCAPES.test(text) && jsonText(item).includes("\uFFFD")

const placed = (error: JsonSyntaxError, line: number, column: number) => ({
  line: line + error.line - 1,
  column: error.line === 1 ? column + error.column - 1 : error.column,
  reason: `not valid JSON: ${error.reason}`,
})

/** Reads a list of objects, or one object, in pieces. */
export class JsonListReader implements TextReader {
  readonly #sink: ItemSink
  /** Before the first character, in the list's items, in a single value that is not a list, or after the list. */
  #place: "before" | "list" | "value" | "behind" = "before"
  #depth = 0
  #inString = false
  #escaped = false
  #item = ""
  #items = 0
  #tooLong = false
  #began = false
  #line = 1
  #column = 1
  #start = { line: 1, column: 1 }
  #stopped = false

  constructor(sink: ItemSink) {
    this.#sink = sink
  }

  push(text: string): void {
    let from = 0
    for (let at = 0; at < text.length && !this.#stopped; at++) {
      const code = text.charCodeAt(at)
      if (this.#place === "before" && !isSpace(code) && code !== 0xfeff) {
        this.#place = code === 91 ? "list" : "value"
        this.#start = { line: this.#line, column: this.#column }
        if (this.#place === "list") from = at + 1
        else {
          this.#began = true
          from = at
        }
      } else if (this.#place === "list") {
        if (this.#inString) {
          if (this.#escaped) this.#escaped = false
          else if (code === 92) this.#escaped = true
          else if (code === 34) this.#inString = false
        } else if (this.#depth === 0 && (code === 44 || code === 93)) {
          this.#add(text.slice(from, at))
          this.#endItem(code === 93)
          from = at + 1
        } else {
          if (!this.#began && !isSpace(code)) {
            this.#began = true
            this.#start = { line: this.#line, column: this.#column }
            from = at
          }
          if (code === 34) this.#inString = true
          else if (code === 123 || code === 91) this.#depth++
          else if ((code === 125 || code === 93) && this.#depth > 0) this.#depth--
        }
      } else if (this.#place === "behind" && !isSpace(code)) {
        this.#refuse("there is text after the end of the list")
        this.#stopped = true
      }
      if (code === 10) {
        this.#line++
        this.#column = 1
      } else this.#column++
    }
    if (this.#began && this.#place !== "behind") this.#add(text.slice(from))
  }

  end(): void {
    if (this.#stopped) return
    if (this.#place === "before") this.#refuse("the file is empty")
    else if (this.#place === "list") this.#refuse("the file ends inside the list, which is not closed")
    else if (this.#place === "value") {
      if (this.#tooLong) this.#refuseItem(tooLong("the object"))
      else takeValue(this.#item, this.#start.line, this.#start.column, this.#sink)
    }
  }

  #add(text: string): void {
    if (!this.#began || this.#tooLong) return
    if (this.#item.length + text.length > MAX_ITEM_LENGTH) {
      this.#tooLong = true
      this.#item = ""
    } else this.#item += text
  }

  #endItem(closes: boolean): void {
    this.#items++
    if (this.#tooLong) this.#refuseItem(tooLong("the item"))
    else if (this.#began) takeValue(this.#item, this.#start.line, this.#start.column, this.#sink)
    else if (!closes || this.#items > 1) this.#refuse("a value was expected between commas")
    this.#item = ""
    this.#tooLong = false
    this.#began = false
    if (closes) this.#place = "behind"
  }

  #refuseItem(reason: string): void {
    this.#sink.refuse({ ...this.#start, reason })
  }

  #refuse(reason: string): void {
    this.#sink.refuse({ line: this.#line, column: this.#column, reason })
  }
}

/** One value per line; empty lines are skipped. */
export class JsonLinesReader implements TextReader {
  readonly #sink: ItemSink
  #rest = ""
  #line = 1
  #tooLong = false

  constructor(sink: ItemSink) {
    this.#sink = sink
  }

  push(text: string): void {
    let from = 0
    for (let end = text.indexOf("\n"); end !== -1; end = text.indexOf("\n", from)) {
      this.#take(this.#rest + text.slice(from, end))
      this.#rest = ""
      this.#tooLong = false
      this.#line++
      from = end + 1
    }
    if (this.#rest.length + text.length - from > MAX_ITEM_LENGTH) {
      this.#tooLong = true
      this.#rest = ""
    } else if (!this.#tooLong) this.#rest += text.slice(from)
  }

  end(): void {
    this.#take(this.#rest)
  }

  #take(line: string): void {
    if (this.#tooLong || line.length > MAX_ITEM_LENGTH) {
      this.#sink.refuse({ line: this.#line, column: 1, reason: tooLong("the line") })
      return
    }
    // A JSON text sequence begins each text with a separator.
    const value = line.startsWith("\u001E") ? line.slice(1) : line
    if (value.trim() !== "") takeValue(value, this.#line, 1, this.#sink)
  }
}

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

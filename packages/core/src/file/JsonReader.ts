/**
 * Reads JSON in pieces: a list whose objects are items, or one object. A list of any length is never held in memory
 * completely.
 */
import { Result } from "effect"
import type { Json } from "../json/Json.ts"
import { jsonText } from "../json/JsonText.ts"
import { type JsonSyntaxError, parseJson } from "../json/ParseJson.ts"
import { isEndMark } from "./CsvReader.ts"
import { type ItemSink, MAX_ITEM_LENGTH, type TextReader, tooLong } from "./FileItem.ts"

const isSpace = (code: number) => code === 32 || code === 10 || code === 13 || code === 9

/** The end of a text in DOS. */
const CTRL_Z = 26

/** Emits a value as an item, or the reason for refusing it, with the position where it begins. */
const takeValue = (text: string, line: number, column: number, sink: ItemSink): void => {
  const parsed = parseJson(text)
  if (Result.isFailure(parsed)) return sink.refuse(placed(parsed.failure, line, column))
  if (parsed.success instanceof Map) {
    if (hasReplaced(text, parsed.success)) sink.replaced?.(line)
    sink.item(line, parsed.success)
  } else sink.refuse({ line, column, reason: "not an object" })
}

/** Escapes that may stand for what PostgreSQL cannot hold. */
export const ESCAPES = /\\u(?:0000|d[89a-f])/i

/** Whether an escape in the source text became U+FFFD. */
const hasReplaced = (text: string, item: Json): boolean =>
  text.includes("\\u") && ESCAPES.test(text) && jsonText(item).includes("\uFFFD")

/** The refusal of a text that begins at this position. */
export const placed = (error: JsonSyntaxError, line: number, column: number) => ({
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
      } else if (this.#place === "behind" && !isSpace(code) && code !== CTRL_Z) {
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
    if (!isEndMark(this.#rest)) this.#take(this.#rest)
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

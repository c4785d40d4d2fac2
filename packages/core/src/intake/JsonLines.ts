/**
 * Reads a batch of JSON texts: one per line (NDJSON, JSON Lines), or each after a record separator (RFC 7464). The
 * batch is read as a whole, or refused with the line at fault. A long body can be read in pieces.
 */
import { Result } from "effect"
import type { Json } from "../json/Json.ts"
import type { SentTexts } from "../json/JsonSlices.ts"
import { emptyJsonNotes, JsonReading, type JsonNotes, type JsonSyntaxError } from "../json/ParseJson.ts"
import type { Decoded } from "../text/Charset.ts"
import { positionInWords, textPosition } from "../text/TextPosition.ts"
import { kindOfJson } from "./NotAnObject.ts"

/** The maximum number of objects in a batch. */
export const MAX_BATCH = 100

interface Read {
  /** The values of the lines; empty unless all lines were read. */
  readonly values: ReadonlyArray<Json>
  readonly replaced: number
  /** The memory that they take; see `CELL_BYTES`. */
  readonly cells: number
}

export type JsonLines = Read &
  (
    | { readonly outcome: "objects"; readonly sent: Pick<SentTexts, "of" | "whole"> }
    | { readonly outcome: "bad_json" | "not_an_object"; readonly detail: string }
    | { readonly outcome: "too_many"; readonly count: number }
  )

interface Span {
  readonly start: number
  readonly end: number
}

/** Reads lines of JSON in one go. */
export const readJsonLines = (body: Decoded): JsonLines => new JsonLinesReading(body).advance(Number.POSITIVE_INFINITY)!

/** Reads the lines in pieces. */
export class JsonLinesReading {
  readonly #text: string
  readonly #spans: ReadonlyArray<Span>
  readonly #count: number
  readonly #marks: number
  readonly #values: Array<Json> = []
  readonly #notes: Array<JsonNotes> = []
  #reading: JsonReading | undefined
  /** Why the first line is not JSON, while the whole body is tried as one JSON text. */
  #firstError: JsonSyntaxError | undefined

  constructor({ text, replaced }: Decoded) {
    this.#text = text
    this.#marks = replaced
    const { first, count } = spansIn(text)
    this.#spans = first
    this.#count = count
  }

  /** Reads about this many more characters; undefined if more remain. */
  advance(characters: number): JsonLines | undefined {
    const spans = this.#spans
    if (spans.length === 0) return this.#bad("a JSON object was expected on each line, but the body is blank")
    for (let left = characters; this.#values.length < spans.length;) {
      if (left <= 0) return undefined
      const at = this.#values.length
      const { start, end } = this.#firstError === undefined ? spans[at]! : this.#all
      if (this.#reading === undefined) {
        this.#notes.push(emptyJsonNotes())
        this.#reading = new JsonReading(this.#text.slice(start, end), { notes: this.#notes.at(-1)! })
      }
      const parsed = this.#reading.advance(left)
      if (parsed === undefined) return undefined
      left -= end - start
      this.#reading = undefined
      if (Result.isSuccess(parsed)) {
        // Lines beyond a batch's limit are counted, not parsed. But lines that form one JSON text are not a batch.
        if (spans.length > MAX_BATCH && this.#firstError === undefined) return this.#tooMany()
        this.#values.push(parsed.success)
        if (this.#firstError !== undefined) break
        continue
      }
      if (this.#firstError !== undefined) return this.#badLine(0, this.#firstError)
      if (at > 0 || spans.length === 1) return this.#badLine(at, parsed.failure)
      this.#firstError = parsed.failure
      this.#notes.pop()
    }
    return this.#whole()
  }

  get #all(): Span {
    return { start: this.#spans[0]!.start, end: this.#text.length }
  }

  #whole(): JsonLines {
    const wrong = this.#values.findIndex((value) => !(value instanceof Map))
    const read = this.#read(this.#values)
    if (wrong !== -1) {
      const position = this.#position(this.#spans[wrong]!.start + (this.#notes[wrong]?.valueOffset ?? 0))
      const detail = `an object was expected on each line, but line ${position.line} has ${kindOfJson(this.#values[wrong]!)}, at ${positionInWords(position)}`
      return { ...read, outcome: "not_an_object", detail }
    }
    const texts = this.#notes.map((notes, n) => {
      const { start, end } = this.#firstError === undefined ? this.#spans[n]! : this.#all
      return notes.sent.textsIn(this.#text.slice(start, end))
    })
    const sent: Pick<SentTexts, "of" | "whole"> = {
      of: (object, place) => texts[place]!.of(object, 0),
      whole: (place) => texts[place]!.whole(0),
    }
    return { ...read, outcome: "objects", sent }
  }

  #read(values: ReadonlyArray<Json>): Read {
    let replaced = this.#marks
    let cells = 0
    for (const notes of this.#notes) {
      replaced += notes.replaced
      cells += notes.cells
    }
    return { values, replaced, cells }
  }

  #badLine(n: number, { reason, offset }: JsonSyntaxError): JsonLines {
    const position = this.#position(this.#spans[n]!.start + offset)
    const { line } = this.#position(this.#spans[n]!.start)
    return this.#bad(`line ${line} is not valid JSON: ${reason}, at ${positionInWords(position)}`)
  }

  #bad(detail: string): JsonLines {
    return { ...this.#read([]), outcome: "bad_json", detail }
  }

  #tooMany(): JsonLines {
    return { ...this.#read([]), outcome: "too_many", count: this.#count }
  }

  /** The line and column of an offset in the text; a byte order mark at the beginning does not count. */
  #position(offset: number) {
    const marked = this.#text.charCodeAt(0) === MARK ? 1 : 0
    return textPosition(this.#text.slice(marked), offset - marked)
  }
}

const MARK = 0xfeff
const RECORD_SEPARATOR = "\u001e"

interface Spans {
  /** The first of them, at most one more than a batch may have. */
  readonly first: ReadonlyArray<Span>
  readonly count: number
}

/**
 * Finds where the texts are, without surrounding white space and byte order marks, of which joined files have several.
 * A JSON string never contains a line break or a record separator.
 */
const spansIn = (text: string): Spans => {
  const isRecords = text.includes(RECORD_SEPARATOR)
  const first: Array<Span> = []
  let count = 0
  let start = -1
  let end = 0
  const close = () => {
    if (start === -1) return
    if (++count <= MAX_BATCH + 1) first.push({ start, end })
    start = -1
  }
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (isRecords ? code === 30 : code === 10 || code === 13) close()
    else if (code !== 32 && code !== 9 && code !== 10 && code !== 13 && code !== MARK) {
      if (start === -1) start = at
      end = at + 1
    }
  }
  close()
  return { first, count }
}

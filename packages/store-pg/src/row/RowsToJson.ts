/**
 * Writes the rows of a page as JSON while PostgreSQL's messages arrive, without keeping the messages. A page ends with its
 * last row, or when its JSON reaches the limit.
 *
 * Decision: docs/decisions/0044-rows-are-read-from-the-messages.md
 */
import { AHEAD, BEHIND, COMMA, Items } from "@data-cabinet/core/pagination/Items"
import { PAGE_BYTES } from "@data-cabinet/core/pagination/Page"
import { MAX_ROW_BYTES } from "@data-cabinet/core/row/RowReader"
import { ProtocolError } from "../connection/FrameReader.ts"
import type { Added, RowSink } from "../connection/PageStatement.ts"
import { JsonFragment } from "./JsonWriter.ts"
import { type EncodedColumn, valueText } from "./RecordToJson.ts"
import type { RowPosition } from "./RowPosition.ts"
import * as ValueToJson from "./ValueToJson.ts"

/** A row's JSON: its columns with their keys, and its expected length. */
export class RowJson {
  readonly columns: ReadonlyArray<{ readonly key: JsonFragment; readonly form: ValueToJson.JsonEncoder }>
  /** The average bytes of a row on the last full page. */
  rowBytes = 256

  constructor(columns: ReadonlyArray<EncodedColumn>) {
    this.columns = columns.map(({ name, form }, index) => ({
      key: new JsonFragment(`${index === 0 ? "{" : ","}${JSON.stringify(name)}:`),
      form,
    }))
  }
}

export interface PageOfRows {
  readonly json: RowJson
  readonly position: RowPosition
  readonly limit: number
  /** The number of values sent for each row, shown and additional. */
  readonly values: number
  /** The most bytes to reserve before the first row arrives. */
  readonly reservedBytes?: number
  /** True if the page may end at any row, so that each row's position has to be known. */
  readonly areLong: boolean
}

const END = 0x7d // }
/** The row of a table without columns. */
const NOTHING = new JsonFragment("{}")
const NULL = new JsonFragment("null")

/** Room for the separators around a value, and for writes past the end. */
const SPARE = 8

/** The most bytes to reserve before the first row arrives. */
const MOST_AHEAD_OF_ROWS = 1024 * 1024

/** The sizes of two headers in a message: the number of a row's values, and the size of a value. */
const ROW_HEAD = 2
const VALUE_HEAD = 4

export class RowsToJson implements RowSink {
  readonly mostBytes = MAX_ROW_BYTES
  readonly #page: PageOfRows
  #bytes: Buffer
  #to: DataView
  #at = AHEAD
  #ends: Array<number> = []
  #hasMore = false
  #longest = 1
  #last: ReadonlyArray<string | null> = []

  constructor(page: PageOfRows) {
    this.#page = page
    const { json, limit } = page
    const most = page.reservedBytes ?? MOST_AHEAD_OF_ROWS
    const expected = Math.min(limit * (json.rowBytes + (json.rowBytes >> 3)), most)
    this.#bytes = Buffer.allocUnsafe(AHEAD + BEHIND + expected)
    this.#to = ValueToJson.viewOf(this.#bytes)
  }

  reset(): void {
    this.#at = AHEAD
    this.#ends = []
    this.#hasMore = false
  }

  room(): number {
    return Math.max(1, Math.floor((PAGE_BYTES - (this.#at - AHEAD)) / this.#longest))
  }

  skipped(): Added {
    return this.#more()
  }

  add(sent: DataView, start: number, end: number): Added {
    const { json, limit, values, areLong } = this.#page
    const ends = this.#ends
    // The row after the last one of the page shows that there are more.
    if (ends.length === limit) return this.#more()
    if (end - start < ROW_HEAD || sent.getUint16(start) !== values) return "malformed"
    if (ends.length > 0 && this.#at - AHEAD >= PAGE_BYTES) return this.#full()
    const written = this.#write(sent, start + ROW_HEAD, end)
    if (written < 0) return "malformed"
    if (written - AHEAD > PAGE_BYTES && ends.length > 0) return this.#full()
    if (areLong) this.#longest = Math.max(this.#longest, written - this.#at)
    this.#at = written
    ends.push(written)
    if (areLong || ends.length === limit) this.#last = this.#positionIn(sent, start + ROW_HEAD, end)
    if (ends.length === limit) json.rowBytes = Math.ceil((written - AHEAD) / limit)
    return "more"
  }

  get isEmpty(): boolean {
    return this.#ends.length === 0
  }

  /** The bytes of JSON written so far. */
  get writtenBytes(): number {
    return this.#at - AHEAD
  }

  get hasMore(): boolean {
    return this.#hasMore
  }

  /** The rows, with room around them for the rest of a page's JSON. */
  items(): Items {
    this.#makeRoom(this.#at, BEHIND)
    return new Items(this.#bytes, AHEAD, this.#ends)
  }

  /** The position of a page's last row, if more rows follow. */
  positionOf(item: number): ReadonlyArray<string | null> {
    if (item !== this.#ends.length - 1) throw new Error("Only the position of a page's last row is known")
    return this.#last
  }

  /** Records that a row follows the page's last one. */
  #more(): Added {
    return this.#ends.length === this.#page.limit && !this.#page.areLong ? this.#counted() : this.#full()
  }

  #counted(): Added {
    this.#hasMore = true
    return "more"
  }

  #full(): Added {
    this.#hasMore = true
    return "full"
  }

  /** Appends a row. Returns its end; negative if the values are not the expected ones. */
  #write(sent: DataView, from: number, end: number): number {
    const { columns } = this.#page.json
    let at = this.#at
    let next = from
    if (this.#ends.length > 0) {
      this.#makeRoom(at, 1)
      this.#to.setUint8(at++, COMMA)
    }
    for (let index = 0; index < columns.length; index++) {
      const { key, form } = columns[index]!
      if (next + VALUE_HEAD > end) return -1
      const size = sent.getInt32(next)
      next += VALUE_HEAD
      if (size > end - next) return -1
      if (size < 0) {
        this.#makeRoom(at, key.length + SPARE)
        at = NULL.write(this.#to, key.write(this.#to, at))
        continue
      }
      if (form.size !== null ? size !== form.size : form.isValue !== null && !form.isValue(sent, next, size)) return -1
      const longest = form.longest === null ? ValueToJson.MAX_SCALAR_BYTES(size) : form.longest(sent, next)
      this.#makeRoom(at, key.length + longest + SPARE)
      at = form.write(this.#to, key.write(this.#to, at), sent, next, size)
      next += size
    }
    this.#makeRoom(at, SPARE)
    if (columns.length === 0) return NOTHING.write(this.#to, at)
    this.#to.setUint8(at, END)
    return at + 1
  }

  #makeRoom(at: number, bytes: number): void {
    if (this.#bytes.length - at >= bytes) return
    const longer = Buffer.allocUnsafe(Math.max(this.#bytes.length * 2, at + bytes))
    this.#bytes.copy(longer, 0, 0, at)
    this.#bytes = longer
    this.#to = ValueToJson.viewOf(longer)
  }

  #positionIn(sent: DataView, from: number, end: number): ReadonlyArray<string | null> {
    return this.#page.position.of((index, form) => {
      let at = from
      for (let passed = 0; passed < index; passed++) at += VALUE_HEAD + Math.max(0, sent.getInt32(at))
      const size = sent.getInt32(at)
      at += VALUE_HEAD
      if (size > end - at || (size >= 0 && form.size !== null && size !== form.size)) {
        throw new ProtocolError("A row's position is not in the row")
      }
      return valueText(sent, at, size, form)
    })
  }
}

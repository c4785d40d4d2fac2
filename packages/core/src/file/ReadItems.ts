/** The second pass over a file: its items in order, in batches, with the refusals among them. */
import { Effect, type Scope, Stream } from "effect"
import { jsonText } from "../json/JsonText.ts"
import { CsvReader } from "./CsvReader.ts"
import type { CsvShape } from "./CsvShape.ts"
import { TextDecoding } from "../text/FileCharset.ts"
import { type Doubt, DoubtLog } from "./Doubt.ts"
import type { FileError } from "./FileError.ts"
import { isWorkbook } from "./FileFormat.ts"
import type { FileItem, ItemSink, Refusal, TextReader } from "./FileItem.ts"
import type { FileInspection } from "./FileInspection.ts"
import type { HtmlShape } from "./HtmlShape.ts"
import { HtmlTables } from "./HtmlTables.ts"
import { HeaderedRows } from "./HeaderedRows.ts"
import { JsonLinesReader, JsonListReader } from "./JsonReader.ts"
import { PointedReader } from "./PointedReader.ts"
import { LineSkip } from "./LineSkip.ts"
import type { ReadableFile } from "./ReadableFile.ts"
import { SheetReader } from "./SheetReader.ts"
import { SheetRows } from "./SheetRows.ts"

/** Some items of a file, with the refusals among them. */
export interface ItemBatch {
  readonly items: ReadonlyArray<FileItem>
  readonly refusals: ReadonlyArray<Refusal>
  /** Bytes of the file, or rows of the sheet, read so far. */
  readonly read: number
  /** How many characters could not be decoded and became U+FFFD, so far. */
  readonly replaced: number
}

/** The items of a file as they are read. */
export interface ItemReading {
  /** The sheet that is read; null for a text. */
  readonly sheet: string | null
  readonly header: boolean | null
  /** The line of the header, null without one; known when the batches have ended. */
  readonly headerRow: () => number | null
  /** The doubts so far; complete when the batches have ended. */
  readonly doubts: () => ReadonlyArray<Doubt>
  readonly batches: Stream.Stream<ItemBatch, FileError>
}

/** Collects what a reader emits between two batches. */
class ItemBuffer implements ItemSink {
  #items: Array<FileItem> = []
  #refusals: Array<Refusal> = []
  item = (line: number, payload: FileItem["payload"]): void => {
    this.#items.push({ line, payload })
  }
  refuse = (refusal: Refusal): void => {
    this.#refusals.push(refusal)
  }
  take(read: number, replaced: number): ItemBatch {
    const batch = { items: this.#items, refusals: this.#refusals, read, replaced }
    this.#items = []
    this.#refusals = []
    return batch
  }
}

export const readItems = (
  file: ReadableFile,
  look: FileInspection,
  header: boolean | undefined,
): Effect.Effect<ItemReading, FileError, SheetReader | Scope.Scope> =>
  isWorkbook(look.format) ? sheetItems(file, look, header) : Effect.succeed(textItems(file, look))

const textItems = (file: ReadableFile, look: FileInspection): ItemReading => {
  let doubts = new DoubtLog()
  const batches = Stream.suspend(() => {
    doubts = new DoubtLog()
    if (look.charset!.isUnclear) doubts.add("encoding_unclear", 1)
    if (look.charset!.falseMark !== undefined) doubts.add("mark_ignored", 1)
    const gathered = new ItemBuffer()
    const reader = readerOf(look, gathered, doubts)
    const decoding = new TextDecoding(look.charset!)
    const skip = new LineSkip((look.csv?.firstLine ?? 1) - 1)
    let read = 0
    const push = (text: string) => {
      if (decoding.replaced > 0) reader.expectReplaced()
      reader.push(skip.pass(text))
    }
    const pieces = Stream.map(file.bytes, (chunk) => {
      push(decoding.write(chunk))
      read += chunk.length
      return gathered.take(read, decoding.replaced)
    })
    const last = Stream.suspend(() => {
      push(decoding.end())
      return Stream.mapEffect(Stream.fromIterable(endOf(reader), { chunkSize: 1 }), () =>
        Effect.map(Effect.yieldNow, () => gathered.take(read, decoding.replaced)),
      )
    })
    return Stream.concat(pieces, last)
  })
  const header = look.csv?.header ?? look.html?.header ?? null
  const headerRow = header === true ? (look.csv?.firstLine ?? look.headerRow) : null
  return { sheet: null, header, headerRow: () => headerRow, doubts: () => doubts.all, batches }
}

/** Ends a text in as many steps as its reader needs, plus one in which it has ended. */
function* endOf(reader: TextReader): Generator<void> {
  if (reader.endInPieces === undefined) reader.end()
  else yield* reader.endInPieces()
  yield
}

/** A reader that examines values for U+FFFD once there can be any. */
type DoubtingReader = TextReader & { readonly expectReplaced: () => void }

const readerOf = (look: FileInspection, sink: ItemSink, doubts: DoubtLog): DoubtingReader => {
  if (look.html !== null) return htmlReader(look.html, sink, doubts)
  if (look.csv !== null) return csvReader(look.csv, sink, doubts)
  let isExamined = false
  const examining: ItemSink = {
    refuse: sink.refuse,
    replaced: (line) => {
      if (!isExamined) doubts.add("values_replaced", line)
    },
    item: (line, payload) => {
      if (isExamined && jsonText(payload).includes("\uFFFD")) doubts.add("values_replaced", line)
      sink.item(line, payload)
    },
  }
  return withExpectation(itemReader(look, examining), () => (isExamined = true))
}

const itemReader = (look: FileInspection, sink: ItemSink): TextReader => {
  if (look.pointer !== "") return new PointedReader(sink, look.pointer)
  return look.format === "ndjson" ? new JsonLinesReader(sink) : new JsonListReader(sink)
}

const csvReader = (csv: CsvShape, sink: ItemSink, doubts: DoubtLog): DoubtingReader => {
  if (csv.passedOver !== null) doubts.add("delimiter_tied", csv.firstLine)
  if (csv.isSpaced) doubts.add("spaces_in_cells", csv.firstLine)
  for (let line = csv.firstLine - csv.titles; line < csv.firstLine; line++) doubts.add("titles_skipped", line)
  const rows = new HeaderedRows(sink, csv.header, doubts)
  const reader = new CsvReader(csv.delimiter, (record) => rows.row(record), sink.refuse, csv.firstLine)
  return {
    push: (text) => reader.push(text),
    end: () => {
      reader.end()
      rows.end()
    },
    expectReplaced: () => rows.expectReplaced(),
  }
}

const htmlReader = (html: HtmlShape, sink: ItemSink, doubts: DoubtLog): DoubtingReader => {
  const titlesFrom = html.titles === 0 ? html.firstLine : 1
  const rows = new HeaderedRows(sink, html.header, doubts)
  const tables = new HtmlTables({
    row: ({ table, line, cells }) => {
      if (table !== html.table) return
      if (line >= titlesFrom && line < html.firstLine) doubts.add("titles_skipped", line)
      if (line < html.firstLine) return
      rows.row({ line, cells: cells.map(wellFormed), columns: cells.map((_, n) => n + 1) })
    },
    refuse: (table, refusal) => {
      if (table === html.table) sink.refuse(refusal)
    },
  })
  return {
    push: (text) => tables.push(text),
    end: () => {
      tables.end()
      rows.end()
    },
    expectReplaced: () => rows.expectReplaced(),
  }
}

const withExpectation = (reader: TextReader, expectReplaced: () => void): DoubtingReader => ({
  push: (text) => reader.push(text),
  end: () => reader.end(),
  ...(reader.endInPieces === undefined ? {} : { endInPieces: () => reader.endInPieces!() }),
  expectReplaced,
})

/** A numeric entity can be half a surrogate pair, which PostgreSQL cannot hold. */
const wellFormed = (cell: string): string => (cell.isWellFormed() ? cell : cell.toWellFormed())

const sheetItems = Effect.fnUntraced(function* (file: ReadableFile, look: FileInspection, given: boolean | undefined) {
  const reader = yield* SheetReader
  const sheet = yield* reader.open(file, look.sheet)
  const header = given ?? true
  const gathered = new ItemBuffer()
  const doubts = new DoubtLog()
  doubts.note("sheets_skipped", sheet.emptyBefore)
  const rows = new SheetRows(gathered, header, given === undefined && !look.isHeaderRowGiven, doubts)
  let read = 0
  const batches = Stream.map(sheet.rows, (batch) => {
    for (const row of batch) {
      read = row.line
      if (read >= look.headerRow) rows.row(row)
    }
    return gathered.take(read, 0)
  })
  const end = Stream.sync(() => {
    rows.end()
    return gathered.take(read, 0)
  })
  return {
    sheet: sheet.name,
    header,
    headerRow: () => (header ? (rows.headerRow ?? look.headerRow) : null),
    doubts: () => doubts.all,
    batches: Stream.concat(batches, end),
  }
})

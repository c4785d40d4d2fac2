/** What the readers of files return for a text that arrives in pieces. */
import { CsvReader, type CsvRecord } from "../../src/file/CsvReader.ts"
import type { ItemSink, Refusal, TextReader } from "../../src/file/FileItem.ts"
import { JsonLinesReader, JsonListReader } from "../../src/file/JsonReader.ts"
import { PointedReader } from "../../src/file/PointedReader.ts"
import { jsonText } from "../../src/json/JsonText.ts"

export const csv = (pieces: ReadonlyArray<string>, delimiter = ",") => {
  const records: Array<CsvRecord> = []
  const refusals: Array<Refusal> = []
  const reader = new CsvReader(
    delimiter,
    (record) => records.push(record),
    (refusal) => refusals.push(refusal),
  )
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return { records, refusals, rows: records.map(({ cells }) => cells) }
}

const read = (make: (sink: ItemSink) => TextReader, pieces: ReadonlyArray<string>) => {
  const items: Array<string> = []
  const lines: Array<number> = []
  const refusals: Array<Refusal> = []
  const reader = make({
    item: (line, payload) => {
      items.push(jsonText(payload))
      lines.push(line)
    },
    refuse: (refusal) => refusals.push(refusal),
  })
  for (const piece of pieces) reader.push(piece)
  reader.end()
  return { items, lines, refusals }
}
export const list = (...pieces: ReadonlyArray<string>) => read((sink) => new JsonListReader(sink), pieces)
export const ndjson = (...pieces: ReadonlyArray<string>) => read((sink) => new JsonLinesReader(sink), pieces)
export const pointed = (pointer: string, text: string) => read((sink) => new PointedReader(sink, pointer), [text])

/** The encoder of each form of file. */
import { setImmediate } from "node:timers/promises"
import type { DestinationFormat, FeedSlice } from "@data-cabinet/core/destination/Destination"
import { eventRows } from "@data-cabinet/core/export/ExportEvents"
import type { ExportFormat, ExportShape, RowEncoder } from "@data-cabinet/core/export/ExportFormat"
import { encodeText, rowText, TEXT_FORMATS, type TextFormat } from "@data-cabinet/core/export/RowText"
import { encodeParquet } from "./ParquetRows.ts"
import { encodeXlsx } from "./XlsxRows.ts"

const isText = (format: ExportFormat): format is TextFormat => TEXT_FORMATS.some((one) => one === format)

/** `title` names the exported object, if the format has a place for it. */
export const fileEncoder = (format: ExportFormat, title: string, shape: ExportShape = {}): RowEncoder => {
  if (format === "xlsx") return encodeXlsx(title)
  return format === "parquet" ? encodeParquet(shape) : encodeText(format, shape)
}

export const contentTypeOf = (format: ExportFormat): string => {
  if (isText(format)) return rowText(format).contentType
  return format === "xlsx"
    ? "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet"
    : "application/vnd.apache.parquet"
}

async function* lines({ events }: FeedSlice): AsyncIterable<Uint8Array> {
  for (const items of events) {
    yield Buffer.from(`${items.texts().join("\n")}\n`)
    // Other requests have their turn between two pages.
    await setImmediate()
  }
}

/** The events of a slice as a file: lines as the feed has them, or Parquet with the columns of an export of events. */
export const sliceFile = (format: DestinationFormat) =>
  format === "ndjson" ? lines : ({ events }: FeedSlice) => encodeParquet({})(eventRows(events))

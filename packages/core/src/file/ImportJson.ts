/** The JSON of an import's report, the same for the API and the command line. */
import type { ImportReport } from "./Import.ts"
import { importShape } from "./ImportStore.ts"

/** `preview` stays a list of JSON texts, so that no digit of a number is lost. */
export const importJson = (report: ImportReport) => ({
  state: report.state,
  import_id: report.importId,
  source_id: report.sourceId,
  file: report.file,
  bytes: report.bytes,
  format: report.format,
  encoding: report.encoding,
  delimiter: report.delimiter,
  header: report.header,
  header_row: report.headerRow,
  sheet: report.sheet,
  rows: report.rows,
  accepted: report.accepted,
  refused: report.refused,
  refusals: report.refusals,
  replaced: report.replaced,
  doubts: report.doubts,
  readings: report.readings,
  read_as: report.readAs,
  misfits: report.misfits,
  preview: report.preview,
  imported_before: report.importedBefore === null ? null : importShape.json(report.importedBefore),
  failure: report.failure,
})

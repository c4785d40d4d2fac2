/** The JSON of an import's report, the same for the API and the command line. */
import type { ImportReport } from "./Import.ts"
import type { ImportStatus, UndoStatus } from "./ImportStore.ts"
import type { UndoPreview } from "./ImportUndoStore.ts"

/** An import as listed, as JSON. */
export const importStatusJson = (status: ImportStatus) => ({
  id: status.id,
  source_id: status.sourceId,
  file: status.name,
  state: status.state,
  bytes: status.bytes,
  rows: status.staged,
  accepted: status.accepted,
  refused: status.refused,
  failure: status.failure,
  created_at: status.createdAt,
  finished_at: status.finishedAt,
  undo: status.undo === null ? null : undoJson(status.undo),
})

const undoJson = ({ startedAt, finishedAt, ...undo }: UndoStatus) => ({
  state: undo.state,
  position: undo.position,
  events: undo.events,
  columns: undo.columns,
  kept: undo.kept,
  started_at: startedAt,
  finished_at: finishedAt,
})

/** What an undo would do, as JSON. */
export const undoPreviewJson = (preview: UndoPreview) => ({
  import_id: preview.importId,
  events: preview.events,
  in_trash: preview.inTrash,
  rows: preview.rows,
  columns: preview.columns,
  kept: preview.kept,
  deliveries: preview.deliveries,
})

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
  imported_before: report.importedBefore === null ? null : importStatusJson(report.importedBefore),
  failure: report.failure,
})

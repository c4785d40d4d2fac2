/** Why a file was not imported. Refused rows are not an error but part of the report. */
import { Schema, Option } from "effect"
import type { ImportStatus } from "./ImportStore.ts"
import { counted } from "../text/Counted.ts"

/**
 * `same_file`: the same file was imported into this source before. `unreadable`: the file cannot be read in the format that
 * it claims, or its bytes stopped arriving. `too_large`: beyond a limit that protects memory and disk. `busy`: the process
 * has reached its limit of concurrent imports. `import_running`, `import_not_recorded`: an import cannot be undone, because
 * it is not at its end, or because an earlier version accepted it without recording its events. `import_done`: an import
 * cannot be cancelled, because all its rows are accepted. `import_cancelled`: it was cancelled while its file was read.
 */
export class FileError extends Schema.TaggedError<FileError>()("FileError", {
  code: Schema.Literals([
    "no_such_source",
    "no_such_import",
    "bad_option",
    "same_file",
    "unreadable",
    "too_large",
    "interrupted",
    "busy",
    "import_running",
    "import_not_recorded",
    "import_done",
    "import_cancelled",
  ]),
  message: Schema.String,
  /** The option that the error is about, if it names one. */
  param: Schema.optionalKey(Schema.Literal("sheet")),
}) {}

export const fileError = (code: FileError["code"], message: string): FileError => new FileError({ code, message })

/** The error for a file whose sheet or table must be chosen. */
export const sheetError = (message: string): FileError => new FileError({ code: "unreadable", message, param: "sheet" })

/** The error for an import that does not exist. */
export const noSuchImport = (id: number): FileError => fileError("no_such_import", `There is no import ${id}.`)

/** Why an import ended while its file was still being read. */
export const lostWhileRead = (status: Option.Option<ImportStatus>) =>
  Option.isSome(status) && status.value.cancelledAt !== null
    ? fileError(
        "import_cancelled",
        `Import ${status.value.id} was cancelled while its file was read. Nothing was imported.`,
      )
    : fileError("interrupted", "Reading took too long, so the import was abandoned. Nothing was imported; try again.")

/** The error for a file that is already imported, or being imported, into this source. */
export const sameFile = (same: ImportStatus) =>
  fileError(
    "same_file",
    same.state === "done"
      ? `This file was already imported into this source: import ${same.id} of ${same.createdAt}, ${counted(same.accepted, "row")}.`
      : `This file is being imported into this source: import ${same.id}, ${same.accepted} of ${same.staged} rows accepted.`,
  )

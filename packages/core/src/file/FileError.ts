/** Why a file was not taken in. Rows that were refused are no error but a report. */
import { Schema } from "effect"

/**
 * `same_file`: this very file was imported into this source before. `unreadable`: what it claims to be cannot be read,
 * or the bytes stopped coming. `too_large`: past a bound that keeps memory and disk safe. `source_gone`: the source was
 * switched off or deleted before the file was accepted. `busy`: as many are being taken in as a process does at once.
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
    "source_gone",
    "busy",
  ]),
  message: Schema.String,
}) {}

export const fileError = (code: FileError["code"], message: string): FileError => new FileError({ code, message })

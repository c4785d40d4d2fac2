/**
 * Detects the format of a file: by its first bytes if they are conclusive, then by its name, then by the beginning of its
 * text.
 */

export type FileFormat = "csv" | "tsv" | "json" | "ndjson" | "xlsx" | "ods" | "html"

/** All formats. */
export const FILE_FORMATS: ReadonlyArray<FileFormat> = ["csv", "tsv", "json", "ndjson", "xlsx", "ods", "html"]

const BY_NAME: Readonly<Record<string, FileFormat>> = {
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson",
}

/** A zip archive; of the supported formats only workbooks are. */
export const isZip = (head: Uint8Array): boolean =>
  head[0] === 0x50 && head[1] === 0x4b && head[2] === 0x03 && head[3] === 0x04

/** The kinds of workbooks. The reader decides which one an archive is; the name is for reports. */
export type WorkbookFormat = "xlsx" | "ods"

/** True for a format that is a spreadsheet. */
export const isWorkbook = (format: FileFormat): format is WorkbookFormat => format === "xlsx" || format === "ods"

/** An OpenDocument archive begins with its type, uncompressed. */
export const workbookFormat = (head: Uint8Array): WorkbookFormat =>
  Buffer.from(head.subarray(30, 100)).toString("latin1").startsWith("mimetypeapplication/vnd.oasis.opendocument.")
    ? "ods"
    : "xlsx"

/** An object with a member, or a list of such: no header of a separated file begins with it. */
const JSON_OBJECT = /^(?:\[\s{0,1000}\{|\{)\s{0,1000}"[^"]{0,1000}"\s{0,1000}:/

/** Lines of objects. */
const OBJECT_LINES = /^\{.*\}[\t ]*\r?\n\s*\{/
/** A list whose first object does not end the line: no line of NDJSON begins like that. */
const LIST_OF_OBJECTS = /^\[\s{0,1000}\{/

/** Whether a text begins with an object on each of two lines. */
export const isLinesOfObjects = (text: string): boolean => OBJECT_LINES.test(text.trimStart())

/**
 * Detects the format of a text from its name and beginning. JSON under the name of a separated file is JSON; lines of objects
 * under the name of JSON are lines, and a list of objects under that of lines is a list.
 */
export const formatOf = (name: string, text: string): FileFormat => {
  const byName = BY_NAME[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""]
  const begin = text.trimStart()
  // A JSON text sequence: each text begins with a separator.
  if (begin.startsWith("\u001E{")) return "ndjson"
  if (byName === "json" && OBJECT_LINES.test(begin)) return "ndjson"
  if (byName === "ndjson" && LIST_OF_OBJECTS.test(begin)) return "json"
  const isSeparated = byName === "csv" || byName === "tsv"
  if (byName !== undefined && !(isSeparated && JSON_OBJECT.test(begin))) return byName
  if (begin.startsWith("[")) return "json"
  if (!begin.startsWith("{")) return "csv"
  return OBJECT_LINES.test(begin) ? "ndjson" : "json"
}

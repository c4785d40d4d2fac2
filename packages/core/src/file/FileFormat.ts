/**
 * Detects the format of a file: by its first bytes if they are conclusive, then by its name, then by the beginning of its
 * text.
 */

export type FileFormat = "csv" | "tsv" | "json" | "ndjson" | "xlsx"

export const FILE_FORMATS: ReadonlyArray<FileFormat> = ["csv", "tsv", "json", "ndjson", "xlsx"]

const BY_NAME: Readonly<Record<string, FileFormat>> = {
  csv: "csv",
  tsv: "tsv",
  tab: "tsv",
  json: "json",
  ndjson: "ndjson",
  jsonl: "ndjson",
}

/** A zip archive; of the supported formats only XLSX is one. */
export const isZip = (head: Uint8Array): boolean =>
  head[0] === 0x50 && head[1] === 0x4b && head[2] === 0x03 && head[3] === 0x04

/** The container of Excel's binary format before 2007, which is not supported. */
export const isOldExcel = (head: Uint8Array): boolean =>
  head[0] === 0xd0 && head[1] === 0xcf && head[2] === 0x11 && head[3] === 0xe0

/** `text` is the beginning of the file as text; empty for an archive. */
export const formatOf = (name: string, head: Uint8Array, text: string): FileFormat => {
  if (isZip(head)) return "xlsx"
  const byName = BY_NAME[/\.([a-z]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ""]
  if (byName !== undefined) return byName
  const begin = text.trimStart()
  if (begin.startsWith("[")) return "json"
  if (!begin.startsWith("{")) return "csv"
  return /^\{.*\}[\t ]*\r?\n\s*\{/.test(begin) ? "ndjson" : "json"
}

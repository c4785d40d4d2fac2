/**
 * Recognizes files that are not tables by their first bytes, so that they are refused by name instead of becoming rows.
 */
import { isAlignedTable } from "./AlignedTable.ts"
import { isDrawnTable } from "./DrawnTable.ts"
import { isLog } from "./ForeignLines.ts"
import { beginsWithZeros, signatureOf } from "./ForeignSignatures.ts"
import { foreignText } from "./ForeignText.ts"
import { isSourceCode } from "./SourceCode.ts"

const DRAWN = "a table drawn with lines, as psql, mysql and Markdown show it: export it as CSV"

const LOG = "a log of a program, not a table"

const ALIGNED = "a table whose columns are aligned with spaces: export it as CSV"

/** The number of characters in which a page's first element is searched. */
const LOOK_CHARACTERS = 4_096

const afterComments = (text: string): string => {
  let rest = text.trimStart()
  while (rest.startsWith("<!--") || rest.startsWith("<?")) {
    const mark = rest.startsWith("<?") ? "?>" : "-->"
    const end = rest.indexOf(mark)
    if (end === -1) return rest
    rest = rest.slice(end + mark.length).trimStart()
  }
  return rest
}

const HTML = /^<(?:!doctype\s+html|html|head|meta|title|body|table|style|script|div|p|br|center|font)\b/i

/** Whether a file begins as an HTML page does. */
export const isHtml = (text: string): boolean => {
  const begin = text.slice(0, LOOK_CHARACTERS).trimStart()
  return begin.startsWith("<") && HTML.test(afterComments(begin))
}

const markup = (text: string): string | undefined => {
  const begin = text.slice(0, LOOK_CHARACTERS).trimStart()
  if (/^MIME-Version: 1\.0\s/i.test(begin)) return "a web archive (MHTML)"
  if (!begin.startsWith("<")) return undefined
  const rest = afterComments(begin)
  if (HTML.test(rest)) return "an HTML page, although its name may say otherwise"
  if (/^<Workbook\b/.test(rest)) return "an XML spreadsheet of Excel 2003"
  if (/^<office:document\b/.test(rest)) return "a flat OpenDocument file"
  return begin.startsWith("<?xml") || ELEMENT.test(rest) ? "an XML document" : undefined
}

/** An element that has a namespace, begins with another element, or is the whole text. */
const ELEMENT =
  /^<([A-Za-z_][\w.:-]{0,100})(?:\s+xmlns\b|(?:\s[^<>]{0,1000})?>\s*<[A-Za-z_/!]|(?:\s[^<>]{0,1000})?(?:\/>|>[^<>]*<\/\1\s*>)\s*$)/

const DBASE = new Set([0x03, 0x30, 0x31, 0x43, 0x83, 0x8b, 0xcb, 0xf5])

/** A table of dBase or FoxPro: its version, the date of its last change, and the sizes of its header and its records. */
const isDbase = (head: Uint8Array): boolean => {
  const [version = 0, , month = 0, day = 0] = head
  if (head.length < 32 || !DBASE.has(version) || month < 1 || month > 12 || day < 1 || day > 31) return false
  return head[8]! + head[9]! * 256 >= 65 && head[10]! + head[11]! * 256 >= 2 && head[12] === 0 && head[13] === 0
}

/** Control characters that no text has often; those that separate cells, records and pages are not among them. */
const isControl = (code: number): boolean => (code >= 2 && code <= 8) || (code >= 14 && code <= 25) || code === 127
/** Less than half of what any data but text has. */
const LEAST_CONTROLS = 0.03
/** A text may repeat one control character by mistake. */
const LEAST_DIFFERENT = 3

/** Data of any kind: many different control characters, or nothing but zero bytes, which are decoded as U+FFFD. */
const isBinary = (begin: string): boolean => {
  const controls = Array.from(begin, (character) => character.charCodeAt(0)).filter(isControl)
  const isOften = controls.length >= begin.length * LEAST_CONTROLS
  return (isOften && new Set(controls).size >= LEAST_DIFFERENT) || /^\uFFFD{8,}$/.test(begin)
}

/**
 * Names the format of a file that is not a table of rows, from its first bytes, as the end of a sentence; `text` is the same
 * beginning, decoded.
 */
export const foreignFile = (head: Uint8Array, text: string): string | undefined => {
  const signed = signatureOf(head)
  const what = signed ?? (isDbase(head) ? "a dBase table (.dbf)" : undefined) ?? markup(text) ?? foreignText(text)
  if (what !== undefined) return `${what}, not a table`
  const begin = text.slice(0, LOOK_CHARACTERS)
  if (isBinary(begin) || beginsWithZeros(head, text)) return "a binary file, not a table"
  const isCut = text.length > LOOK_CHARACTERS
  // Such a line would be read as JSON.
  if (begin.startsWith("[") && isLog(begin.trimEnd(), isCut)) return LOG
  if (isSourceCode(begin)) return "the source code of a program, not a table"
  if (isDrawnTable(begin)) return DRAWN
  if (!isAlignedTable(begin, isCut)) return undefined
  return isLog(begin.trimEnd(), isCut) ? LOG : ALIGNED
}

/** The container of Microsoft Office before 2007, and of encrypted files since then. */
export const isOleContainer = (head: Uint8Array): boolean =>
  head[0] === 0xd0 && head[1] === 0xcf && head[2] === 0x11 && head[3] === 0xe0

const STREAMS: ReadonlyArray<readonly [stream: Buffer, what: string]> = (
  [
    ["EncryptedPackage", "an encrypted workbook: save it without a password"],
    ["WordDocument", "a Word document (.doc), not a table"],
    ["PowerPoint Document", "a PowerPoint presentation (.ppt), not a table"],
    ["Workbook", "a workbook of Excel 97–2003 (.xls): save it as .xlsx"],
    ["Book", "a workbook of Excel 5 (.xls): save it as .xlsx"],
    ["__properties_version1.0", "a message of Outlook (.msg), not a table"],
  ] as const
).map(([name, what]) => [Buffer.from(`${name}\0`, "utf16le"), what])

/** The overlap of two pieces, in bytes: a name may be cut by a piece's end. */
const OVERLAP = 64

/** Determines what such a container holds, from the names of its streams, which may be anywhere in it. */
export class OleContainer {
  #end: Buffer = Buffer.alloc(0)
  readonly #found = new Set<string>()

  see(piece: Uint8Array): void {
    const bytes = Buffer.concat([this.#end, piece])
    for (const [stream, what] of STREAMS) if (bytes.includes(stream)) this.#found.add(what)
    this.#end = bytes.subarray(-OVERLAP)
  }

  /** Its contents, as the end of a sentence. */
  get what(): string {
    const first = STREAMS.find(([, what]) => this.#found.has(what))
    return first?.[1] ?? "a file of Microsoft Office before 2007, or an encrypted one: save a workbook as .xlsx"
  }
}

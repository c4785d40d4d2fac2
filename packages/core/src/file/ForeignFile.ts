/**
 * Recognizes files that are not tables by their first bytes, so that they are refused by name instead of becoming rows.
 */
import { isAlignedTable } from "./AlignedTable.ts"
import { isDrawnTable, isWrapped } from "./DrawnTable.ts"
import { isSourceCode } from "./SourceCode.ts"

const DRAWN = "a table drawn with lines, as psql, mysql and Markdown show it: export it as CSV"

const WRAPPED =
  "a table whose lines are quoted as a whole, so that each is one cell: export it again, or pass the format csv to import it as one column"

const ALIGNED = "a table whose columns are aligned with spaces: export it as CSV"

/** The first bytes, one character each; `?` matches any. */
const SIGNATURES: ReadonlyArray<readonly [pattern: string, what: string]> = [
  ["%PDF-", "a PDF document"],
  ["\x1f\x8b", "a gzip archive"],
  ["BZh?1AY&SY", "a bzip2 archive"],
  ["\xfd7zXZ\0", "an XZ archive"],
  ["7z\xbc\xaf'\x1c", "a 7-Zip archive"],
  ["Rar!\x1a\x07", "a RAR archive"],
  ["\x28\xb5\x2f\xfd", "a Zstandard archive"],
  [`${"?".repeat(257)}ustar`, "a tar archive"],
  ["\x89PNG\r\n", "an image (PNG)"],
  ["\xff\xd8\xff", "an image (JPEG)"],
  ["GIF8?a", "an image (GIF)"],
  ["II*\0", "an image (TIFF)"],
  ["MM\0*", "an image (TIFF)"],
  ["RIFF????WEBP", "an image (WebP)"],
  ["\0\0??ftyp", "a video or an image"],
  ["OggS\0", "a sound"],
  ["ID3\x02", "a sound"],
  ["ID3\x03", "a sound"],
  ["ID3\x04", "a sound"],
  ["RIFF????WAVE", "a sound"],
  ["\x7fELF", "a program"],
  ["MZ\x90\0", "a program"],
  ["SQLite format 3\0", "an SQLite database"],
  ["PAR1\x15", "a Parquet file"],
  ["Obj\x01", "an Avro file"],
  ["ARROW1\0\0", "an Arrow file"],
  ["\xca\xfe\xba\xbe\0\0\0", "a program"],
  ["bplist00", "a binary property list"],
  ["{\\rtf", "a text document (RTF)"],
]

const hasSignature = (begin: string, pattern: string): boolean =>
  begin.length >= pattern.length && pattern.split("").every((one, at) => one === "?" || one === begin[at])

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

/** Texts of other programs whose lines are not rows. `ID;Price` begins a table; `ID;PWXL;N;E` does not. */
const TEXTS: ReadonlyArray<readonly [pattern: RegExp, what: string]> = [
  [/^ID;P[A-Z0-9]*(?:;[NE])*\r?\n(?:P;P|F;P\d|[BC];[YX]\d)/, "a SYLK spreadsheet (.slk)"],
  [/^TABLE\r?\n0,1\r?\n/, "a DIF spreadsheet (.dif)"],
  [/^socialcalc:version:\d/, "a spreadsheet of SocialCalc"],
  [/^BEGIN:VCARD\s/i, "a list of contacts (vCard)"],
  [/^BEGIN:VCALENDAR\s/i, "a calendar (iCalendar)"],
  [/^1CClientBankExchange\s/, "an exchange of 1C with a bank"],
  [/^OFXHEADER:\s*\d/, "a bank statement in OFX"],
  [/^!(?:Type|Account|Option):\w/i, "a bank statement in QIF"],
  [/^(?:\{1:F01|:20:)[^\r\n]/, "a bank statement in SWIFT's format (MT940)"],
  [/^(?:UNA[^\w\s].{5}\s*)?UNB\+\w|^ISA\*\d\d\*/, "an EDI message"],
  [
    /^(?:--\r?\n)?-- (?:MySQL|MariaDB|PostgreSQL|SQLite|phpMyAdmin)\b|^(?:INSERT INTO|CREATE TABLE|DROP TABLE) [\w"\x60[]/i,
    "an SQL dump",
  ],
  [/^(?:BEGIN;|SELECT [^;]{1,1000}?\sFROM\s|UPDATE [\w".]{1,200}\s+SET\s|ALTER TABLE |DELETE FROM )/, "an SQL script"],
  [/^(?:Return-Path|Received|Delivered-To|Message-ID): [^\r\n]*\r?\n(?:[\w-]+:|[ \t])/i, "a mail message"],
  [
    /^(?:From|To|Subject|Date): [^\r\n]*\r?\n(?:From|To|Cc|Subject|Date|Reply-To|MIME-Version|Content-Type): /,
    "a mail message",
  ],
  [/^version https:\/\/git-lfs\.github\.com\/spec\/v\d/, "a pointer of Git LFS to a file"],
  [/^#! ?\/[\w/.-]+/, "a script"],
  [/^\[[\w .:-]{1,100}\]\r?\n[\w .-]{1,100}=/, "a file of settings (INI)"],
  [
    /^(?:[#;][^\n]{0,500}\n\s*){0,20}(?:export )?([A-Za-z][\w.-]{0,100}) ?= ?[^\r\n,;|\t]*\r?\n\s*(?!\1 ?=)(?:\[|(?:export )?[A-Za-z][\w.-]{0,100} ?=)/,
    "a file of settings",
  ],
  [/^---\r?\n[\w-]{1,100}:[ \r\n]/, "a YAML document"],
  [/^- [\w-]{1,100}:(?: [^\r\n]{0,200})?\r?\n {2}[\w-]{1,100}:[ \r\n]/, "a YAML document"],
  [/^[\w-]{1,100}: [^\r\n]{0,200}\r?\n[\w-]{1,100}:\r?\n +(?:- |[\w-]{1,100}:[ \r\n])/, "a YAML document"],
  [/^(?:version: 1\r?\n\s*)?dn: \w+=/, "a directory (LDIF)"],
  [/^-----BEGIN [A-Z ]+-----\s/, "a key or certificate (PEM)"],
  [/^%!PS-/, "a PostScript document"],
  [/^(?:\d{1,6}\r?\n)?\d{1,2}:\d\d:\d\d[,.]\d{3} --> \d{1,2}:\d\d:\d\d[,.]\d{3}[ \r\n]/, "a file of subtitles (SRT)"],
  [/^WEBVTT[ \t\r\n]/, "a file of subtitles (WebVTT)"],
  [/^\[Script Info\]\s/, "a file of subtitles (SubStation Alpha)"],
  [/^begin [0-7]{3,4} [^\r\n]{1,255}\r?\nM[ -`]{60}\r?\n/, "a file encoded as text (uuencode)"],
  [/^data:[\w.+/-]{0,100}(?:;[\w=-]{1,50}){0,3};base64,/, "a file encoded as text (base64)"],
]

/** A line of prose: a header separates its names and does not end with a full stop. */
const isSentence = (line: string): boolean =>
  !/^"|[\r\n;\t|]|,(?! )/.test(line) && (/\S\s+\S+\s+\S/.test(line) || /\S\s+\S+[.!]$/.test(line))

/**
 * Names a text of one line, or one whose lines are each quoted as a whole: read as separated text, it would be a table
 * without rows, or with one column.
 */
export const foreignLines = (text: string): string | undefined => {
  const begin = text.slice(0, LOOK_CHARACTERS).trim()
  if (text.length <= LOOK_CHARACTERS && isSentence(begin)) return "one line of words, not a table"
  const isCut = text.length > LOOK_CHARACTERS
  if (isBase64(begin, isCut)) return "a file encoded as text (base64), not a table"
  return isWrapped(begin, isCut) ? WRAPPED : undefined
}

/**
 * Lines of base64 as long as mails and certificates have them, of which only the last is shorter; lists of tokens or
 * checksums have lines of one length, and hexadecimal ones have no letters of both cases.
 */
const isBase64 = (begin: string, isCut: boolean): boolean => {
  const lines = begin.split(/\r?\n/)
  const last = lines.pop()!
  const [first = ""] = lines
  if (lines.length === 0 || (first.length !== 76 && first.length !== 64) || last.length > first.length) return false
  if (!lines.every((line) => line.length === first.length && /^[\w+/-]+$/.test(line))) return false
  const isEnd = isCut
    ? lines.length > 1 && first.length === 76
    : last.length < first.length && /^[\w+/-]+={0,2}$/.test(last)
  return isEnd && /[a-z]/.test(begin) && /[A-Z]/.test(begin) && /\d/.test(begin)
}

const foreignText = (text: string): string | undefined => {
  const begin = text.slice(0, LOOK_CHARACTERS).trimStart()
  return TEXTS.find(([pattern]) => pattern.test(begin))?.[1]
}

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
 * Names the format of a file that is no table of rows, from its first bytes, as the end of a sentence; `text` is the same
 * beginning, decoded.
 */
export const foreignFile = (head: Uint8Array, text: string): string | undefined => {
  const bytes = Buffer.from(head.subarray(0, 300)).toString("latin1")
  const signed = SIGNATURES.find(([pattern]) => hasSignature(bytes, pattern))?.[1]
  const what = signed ?? (isDbase(head) ? "a dBase table (.dbf)" : undefined) ?? markup(text) ?? foreignText(text)
  if (what !== undefined) return `${what}, not a table`
  const begin = text.slice(0, LOOK_CHARACTERS)
  if (isBinary(begin)) return "a binary file, not a table"
  if (isSourceCode(begin)) return "the source code of a program, not a table"
  return isDrawnTable(begin) ? DRAWN : isAlignedTable(begin, text.length > LOOK_CHARACTERS) ? ALIGNED : undefined
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

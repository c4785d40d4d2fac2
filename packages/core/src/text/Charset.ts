/**
 * Decodes bytes to text. Charset labels have their meaning on the web (`latin1` is windows-1252); a byte without a meaning
 * becomes U+FFFD, and so does U+0000, which PostgreSQL cannot hold. Replacements are counted.
 */
import iconv from "iconv-lite"
import type { SourceEncoding } from "../source/SourceSettings.ts"

/** A charset with its name on the web and its name in iconv-lite; equal charsets are the same object. */
export interface Charset {
  readonly name: string
  readonly codec: string
  /** The character of each byte, for single-byte charsets. */
  readonly table: Uint16Array | null
}

/**
 * The signal that determined a charset. A signal that names an unknown charset is ignored. `charset_field`: the field
 * `_charset_`; `named_charset`: the field `charset`; `named_charsets`: the field `charsets`; `part`: the part's own header;
 * `unclear`: a guess that the text does not confirm; `reread`: an operator, after the event was accepted.
 */
export type CharsetDecidedBy =
  | "source"
  | "header"
  | "charset_field"
  | "named_charset"
  | "named_charsets"
  | "part"
  | "data"
  | "unclear"
  | "json"
  | "reread"

/** A charset, and the signal that determined it. */
export interface CharsetDecision {
  readonly charset: Charset
  readonly decidedBy: CharsetDecidedBy
}

/** The text of some bytes. */
export interface Decoded {
  readonly text: string
  /** How many characters became U+FFFD that were not U+FFFD in the bytes. */
  readonly replaced: number
}

const singleByte = (name: string, codec: string): Charset => {
  const text = iconv.decode(Buffer.from(Uint8Array.from({ length: 256 }, (_, byte) => byte)), codec)
  return { name, codec, table: Uint16Array.from(text, (character) => character.charCodeAt(0)) }
}
const multiByte = (name: string, codec: string): Charset => ({ name, codec, table: null })

/** The charset UTF-8. */
export const UTF_8: Charset = multiByte("utf-8", "utf8")
/** The charset Windows-1251 (Cyrillic). */
export const WINDOWS_1251: Charset = singleByte("windows-1251", "win1251")
/** The charset Windows-1252 (Western European). */
export const WINDOWS_1252: Charset = singleByte("windows-1252", "win1252")

/** The charset that an operator set on a source. */
export const sourceCharset = (encoding: SourceEncoding): Charset =>
  encoding === "utf-8" ? UTF_8 : encoding === "windows-1251" ? WINDOWS_1251 : WINDOWS_1252

type Labelled = readonly [charset: () => Charset, labels: string]

const known = (charset: Charset, labels: string): Labelled => [() => charset, labels]

/** Its table is built on first use: hardly any sender needs it. */
const rare = (name: string, codec: string, labels: string): Labelled => {
  let made: Charset | undefined
  return [() => (made ??= singleByte(name, codec)), labels]
}

const LABELS: ReadonlyArray<Labelled> = [
  known(UTF_8, "utf-8 unicode-1-1-utf-8 x-unicode20utf8 utf8mb4 utf8mb3 cp65001"),
  known(WINDOWS_1251, "windows-1251 cp1251 x-cp1251 win1251 ansi-1251 ms-1251 ms-cyrl x-windows-1251"),
  known(
    WINDOWS_1252,
    "windows-1252 cp1252 x-cp1252 win1252 ansi-1252 ms-1252 ms-ansi iso-8859-1 iso_8859-1:1987 latin1 l1 ibm819 cp819 iso-ir-100 csisolatin1",
  ),
  rare("windows-1250", "win1250", "windows-1250 cp1250 x-cp1250 win1250 ansi-1250 ms-1250 ms-ee"),
  rare("windows-1253", "win1253", "windows-1253 cp1253 x-cp1253 win1253 ansi-1253 ms-1253 ms-greek"),
  rare(
    "windows-1254",
    "win1254",
    "windows-1254 cp1254 x-cp1254 win1254 ansi-1254 ms-1254 ms-turk iso-8859-9 latin5 l5 csisolatin5 iso-ir-148",
  ),
  rare("windows-1255", "win1255", "windows-1255 cp1255 x-cp1255 win1255 ansi-1255 ms-1255 ms-hebr"),
  rare("windows-1256", "win1256", "windows-1256 cp1256 x-cp1256 win1256 ansi-1256 ms-1256 ms-arab"),
  rare("windows-1257", "win1257", "windows-1257 cp1257 x-cp1257 win1257 ansi-1257 ms-1257 winbaltrim"),
  rare("windows-1258", "win1258", "windows-1258 cp1258 x-cp1258 win1258 ansi-1258 ms-1258"),
  rare("windows-874", "win874", "windows-874 cp874 iso-8859-11 tis-620 dos-874 x-windows-874"),
  rare("iso-8859-2", "iso88592", "iso-8859-2 latin2 l2 csisolatin2 iso-ir-101 iso_8859-2:1987 8859-2"),
  rare("iso-8859-3", "iso88593", "iso-8859-3 latin3 l3 csisolatin3 iso-ir-109"),
  rare("iso-8859-4", "iso88594", "iso-8859-4 latin4 l4 csisolatin4 iso-ir-110"),
  rare("iso-8859-5", "iso88595", "iso-8859-5 cyrillic csisolatincyrillic iso-ir-144"),
  rare("iso-8859-6", "iso88596", "iso-8859-6 arabic asmo-708 csisolatinarabic ecma-114 iso-ir-127"),
  rare("iso-8859-7", "iso88597", "iso-8859-7 greek greek8 csisolatingreek ecma-118 elot-928 iso-ir-126"),
  rare("iso-8859-8", "iso88598", "iso-8859-8 iso-8859-8-i hebrew csisolatinhebrew iso-ir-138 logical visual"),
  rare("iso-8859-10", "iso885910", "iso-8859-10 latin6 l6 csisolatin6 iso-ir-157"),
  rare("iso-8859-13", "iso885913", "iso-8859-13"),
  rare("iso-8859-14", "iso885914", "iso-8859-14 latin8 l8"),
  rare("iso-8859-15", "iso885915", "iso-8859-15 latin9 l9 csisolatin9"),
  rare("iso-8859-16", "iso885916", "iso-8859-16 latin10 l10"),
  rare("koi8-r", "koi8r", "koi8-r koi8 koi cskoi8r"),
  rare("koi8-u", "koi8ru", "koi8-u koi8-ru"),
  rare("ibm866", "cp866", "ibm866 cp866 866 dos-866 csibm866"),
  rare("ibm437", "cp437", "ibm437 cp437 dos-437 cspc8codepage437"),
  rare("ibm737", "cp737", "ibm737 cp737 dos-737"),
  rare("ibm775", "cp775", "ibm775 cp775 dos-775 cspc775baltic"),
  rare("ibm850", "cp850", "ibm850 cp850 dos-850 cspc850multilingual"),
  rare("ibm852", "cp852", "ibm852 cp852 dos-852 cspcp852"),
  rare("ibm855", "cp855", "ibm855 cp855 dos-855 csibm855"),
  rare("ibm857", "cp857", "ibm857 cp857 dos-857 csibm857"),
  rare("ibm858", "cp858", "ibm858 cp858 dos-858 ibm00858 cp00858"),
  rare("ibm860", "cp860", "ibm860 cp860 dos-860 csibm860"),
  rare("ibm862", "cp862", "ibm862 cp862 dos-862 cspc862latinhebrew"),
  rare("ibm865", "cp865", "ibm865 cp865 dos-865 csibm865"),
  rare("x-mac-cyrillic", "macukraine", "x-mac-cyrillic mac-cyrillic x-mac-ukrainian"),
  rare("macintosh", "macroman", "macintosh mac x-mac-roman mac-roman csmacintosh"),
  known(
    multiByte("gb18030", "gb18030"),
    "gb18030 gbk gb2312 x-gbk cp936 euc-cn ms936 x-mswin-936 gb_2312-80 csgb2312 chinese",
  ),
  known(multiByte("big5", "big5"), "big5 cp950 big5-hkscs cn-big5 ms950 x-windows-950 csbig5 x-x-big5"),
  known(
    multiByte("shift_jis", "shiftjis"),
    "shift_jis sjis x-sjis cp932 windows-31j ms_kanji ms932 sjis-win csshiftjis cswindows31j",
  ),
  known(multiByte("euc-jp", "eucjp"), "euc-jp x-euc-jp eucjp-win eucjp-ms cseucpkdfmtjapanese"),
  known(
    multiByte("euc-kr", "euckr"),
    "euc-kr ks_c_5601-1987 ksc5601 windows-949 cp949 ms949 uhc x-windows-949 cseuckr korean",
  ),
]

/** A label without characters that programs write differently: `KOI8_R`, `koi8-r` and `"KOI8 R"` are equal. */
const plainLabel = (label: string): string => label.toLowerCase().replaceAll(/[^a-z0-9]/g, "")

const byLabel = new Map(
  LABELS.flatMap(([charset, labels]) => labels.split(" ").map((label) => [plainLabel(label), charset] as const)),
)

/** The names of all charsets, each once. */
export const CHARSET_NAMES: ReadonlyArray<string> = LABELS.map(([, labels]) => labels.split(" ", 1)[0]!)

/** No label is longer. */
const MAX_LABEL = 64

/**
 * The charset of a label in a header, a part, a file name or `_charset_`; null for a label that gives no usable
 * charset: unknown labels, charsets that are not a superset of ASCII (UTF-16), or plain ASCII, which defines no bytes
 * above 127.
 */
export const charsetOf = (label: string | null | undefined): Charset | null =>
  label === null || label === undefined || label.length > MAX_LABEL
    ? null
    : (byLabel.get(plainLabel(label))?.() ?? null)

/** A Buffer on the same bytes, for Node's own decoders. */
export const bufferOf = (bytes: Uint8Array): Buffer =>
  Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)

/** Whether every byte is at most 127. */
export const isAscii = (bytes: Buffer, start: number = 0, end: number = bytes.length): boolean => {
  for (let at = start; at < end; at++) if (bytes[at]! > 127) return false
  return true
}

/**
 * Decodes any bytes from `start` to `end` to text that can be stored: U+0000 becomes U+FFFD. A byte order mark is an
 * ordinary character.
 */
export const decode = (bytes: Buffer, charset: Charset, start: number = 0, end: number = bytes.length): Decoded =>
  start === end ? NOTHING : storable(decodeWithNul(bytes, charset, start, end))

const decodeWithNul = (bytes: Buffer, charset: Charset, start: number, end: number): Decoded => {
  if (charset === UTF_8) {
    const text = bytes.toString("utf8", start, end)
    const marks = count(text, MARK_CODE)
    return { text, replaced: marks === 0 ? 0 : marks - sentMarks(bytes.subarray(start, end)) }
  }
  const text =
    charset.table === null
      ? iconv.decode(bytes.subarray(start, end), charset.codec, { stripBOM: false }).toWellFormed()
      : fromTable(bytes, charset.table, start, end)
  return { text, replaced: count(text, MARK_CODE) }
}

/** Replaces U+0000 with U+FFFD. */
const storable = (decoded: Decoded): Decoded => {
  const zeros = count(decoded.text, 0)
  return zeros === 0 ? decoded : { text: withoutZeros(decoded.text), replaced: decoded.replaced + zeros }
}

/** Works on code units: on a text of only zeros, `replaceAll` would create as many pieces. */
const withoutZeros = (text: string): string => {
  const units = Buffer.allocUnsafe(text.length * 2)
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    units.writeUInt16LE(unit === 0 ? MARK_CODE : unit, at * 2)
  }
  return units.toString("utf16le")
}

const NOTHING: Decoded = { text: "", replaced: 0 }

const fromTable = (bytes: Buffer, table: Uint16Array, start: number, end: number): string => {
  if (isAscii(bytes, start, end)) return bytes.toString("latin1", start, end)
  const units = Buffer.allocUnsafe((end - start) * 2)
  for (let at = start, to = 0; at < end; at++, to += 2) {
    const unit = table[bytes[at]!]!
    units[to] = unit & 255
    units[to + 1] = unit >> 8
  }
  return units.toString("utf16le")
}

/**
 * Nearly always the count is 0, which `indexOf` detects at once; if every character matches, calling it for each takes
 * long.
 */
const count = (text: string, code: number): number => {
  const first = text.indexOf(String.fromCharCode(code))
  if (first === -1) return 0
  let times = 0
  for (let at = first; at < text.length; at++) if (text.charCodeAt(at) === code) times++
  return times
}

/** How often U+FFFD itself was sent. Its three bytes never occur as anything else, in well-formed or broken UTF-8. */
const sentMarks = (bytes: Buffer): number => {
  let times = 0
  for (let at = 0; at + 2 < bytes.length; at++) {
    if (bytes[at] === 0xef && bytes[at + 1] === 0xbf && bytes[at + 2] === 0xbd) times++
  }
  return times
}

const MARK_CODE = 0xfffd

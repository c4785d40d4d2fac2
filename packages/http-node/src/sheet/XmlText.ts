/** Decodes the characters of XML. */
import { SheetFault } from "./SheetFault.ts"

/** A document that is not well-formed. Its message says why; the reader of the part adds where. */
export class XmlFault extends SheetFault {}

const ENTITIES: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"', apos: "'" }

const characterOf = (reference: string): string => {
  const named = ENTITIES[reference]
  if (named !== undefined) return named
  const code = /^#x[0-9a-f]{1,8}$/i.test(reference)
    ? Number.parseInt(reference.slice(2), 16)
    : /^#\d{1,9}$/.test(reference)
      ? Number(reference.slice(1))
      : 0
  if (code === 0 || code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) {
    throw new XmlFault(`&${reference.slice(0, 20)}; is not a character of XML`)
  }
  return String.fromCodePoint(code)
}

/** The text between two tags or in an attribute. Line ends become LF, as XML requires. */
export const xmlText = (raw: string): string => {
  let text = raw
  if (text.includes("\0")) throw new XmlFault("a text contains a zero character")
  if (text.includes("\r")) text = text.replaceAll(/\r\n?/g, "\n")
  let amp = text.indexOf("&")
  if (amp === -1) return text
  let out = ""
  let from = 0
  while (amp !== -1) {
    const end = text.indexOf(";", amp)
    if (end === -1 || end - amp > 12) throw new XmlFault("a text contains & that begins no reference")
    out += text.slice(from, amp) + characterOf(text.slice(amp + 1, end))
    from = end + 1
    amp = text.indexOf("&", from)
  }
  return out + text.slice(from)
}

/** Characters that XML cannot hold are written `_x000D_` in a workbook. Zero and halves of a pair stay as written. */
export const unescapedText = (text: string): string => {
  if (!text.includes("_x")) return text
  const read = text.replaceAll(/_x([0-9A-Fa-f]{4})_/g, (whole, hex: string) =>
    hex === "0000" ? whole : String.fromCharCode(Number.parseInt(hex, 16)),
  )
  return read.isWellFormed() ? read : text
}

/** The end of the next `mark`; -1 if there is none. */
export const after = (source: string, mark: string, from: number): number => {
  const found = source.indexOf(mark, from)
  return found === -1 ? -1 : found + mark.length
}

/** Whether there is only white space from one position to another, which must not come before it. */
export const isBlank = (source: string, from: number, to: number): boolean => {
  for (let at = from; at < to; at++) if (source.charCodeAt(at) > 32) return false
  return from <= to
}

/** Byte order marks, and whether the text behind a mark is what the mark declares. */
import { isUtf8 } from "node:buffer"
import { UTF_8 } from "./Charset.ts"
import { hasAscii, isMostlyNarrow, markedWide, unmarkedWide, type WideCharset } from "./WideCharset.ts"

/** The charset that a mark declares. */
export interface ByteOrderMark {
  readonly charset: Pick<WideCharset, "name" | "codec"> & Partial<Pick<WideCharset, "unit">>
  /** Its length in bytes. */
  readonly length: number
}

/** The mark at the beginning of a text. */
export const byteOrderMark = (head: Uint8Array): ByteOrderMark | null => {
  const wide = markedWide(head)
  if (wide !== null) return { charset: wide, length: wide.unit }
  if (head[0] !== 0xef || head[1] !== 0xbb || head[2] !== 0xbf) return null
  return { charset: { name: UTF_8.name, codec: UTF_8.codec }, length: 3 }
}

const LF = 10

/** Shorter texts say too little against a mark. */
const LEAST_BYTES = 8

/** Whether a text behind a mark of UTF-16 or UTF-32 has no line break or other ASCII in it, but reads as another. */
const contradictsWide = (behind: Buffer, charset: WideCharset): boolean => {
  if (behind.length < LEAST_BYTES || hasAscii(behind, charset)) return false
  if (unmarkedWide(behind) !== null) return true
  return !behind.includes(0) && isMostlyNarrow(behind) && (behind.includes(LF) || isUtf8(behind))
}

/** Whether a text behind a mark of UTF-8 is UTF-16, or has fewer whole characters than bytes of no character. */
const contradictsUtf8 = (behind: Buffer, high: Buffer): boolean => {
  if (unmarkedWide(behind) !== null) return true
  let whole = 0
  let broken = 0
  for (const character of high.toString("utf8")) {
    if (character === "\uFFFD") broken++
    else if (character > "\u007F") whole++
  }
  return broken > whole
}

/** `behind`: the beginning of the text after the mark; `high`: a part of it with its first bytes above 127. */
export const contradictsMark = ({ charset }: ByteOrderMark, behind: Buffer, high: Buffer): boolean =>
  charset.unit === undefined
    ? contradictsUtf8(behind, high)
    : contradictsWide(behind, { ...charset, unit: charset.unit })

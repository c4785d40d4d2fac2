/**
 * An original request as text and as bytes. The text is read in the charset that the event was read in; undecodable
 * bytes and the position of a parse error are marked in place.
 */
import { jsonErrorInWords, parseJson } from "@data-cabinet/core/json/ParseJson"
import type { StoredOriginal } from "@data-cabinet/core/event/EventDetail"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { Result } from "effect"
import { longText } from "../html/LongText.ts"

const HEX_BYTES = 4_096
const LINE_BYTES = 16

export const originalText = ({ body, charset }: Pick<StoredOriginal, "body" | "charset">): string => {
  const label = charset === "latin-1" ? "windows-1252" : charset
  try {
    return new TextDecoder(label, { ignoreBOM: true }).decode(body)
  } catch {
    return Buffer.from(body).toString("utf8")
  }
}

/** Where a body declared as JSON fails to parse. */
export const jsonFault = (original: StoredOriginal, text: string): { at: number; words: string } | null => {
  const says = /[/+]json\b/i.test(original.contentType ?? "")
  if (!says || original.bodyBytes > original.body.byteLength) return null
  const parsed = parseJson(text)
  return Result.isSuccess(parsed) ? null : { at: parsed.failure.offset, words: jsonErrorInWords(parsed.failure) }
}

const withReplaced = (text: string): ReadonlyArray<HtmlValue> =>
  text
    .split(/(\uFFFD+)/)
    .map((part) => (part.startsWith("\uFFFD") ? markup`<mark>${longText(part)}</mark>` : longText(part)))

/**
 * The text with the place of its fault marked, and every character that could not be read. A line feed right after
 * `<pre>` is not part of the text: without the one we add, a leading line feed of the text would be lost.
 */
export const markedText = (text: string, at: number | null): Html => {
  if (at === null) return markup`<pre class="text" tabindex="0">\n${withReplaced(text)}</pre>`
  const next = String.fromCodePoint(text.codePointAt(at) ?? 0x23ce)
  return markup`<pre class="text" tabindex="0">\n${withReplaced(text.slice(0, at))}<mark>${next}</mark>${withReplaced(text.slice(at + next.length))}</pre>`
}

/** The first bytes as a hex dump. */
export const hexDump = (body: Uint8Array): string => {
  const bytes = Buffer.from(body.subarray(0, HEX_BYTES))
  const lines: Array<string> = []
  for (let at = 0; at < bytes.length; at += LINE_BYTES) {
    const line = bytes.subarray(at, at + LINE_BYTES)
    const hex = [...line].map((byte) => byte.toString(16).padStart(2, "0")).join(" ")
    const shown = [...line].map((byte) => (byte >= 32 && byte < 127 ? String.fromCharCode(byte) : ".")).join("")
    lines.push(`${at.toString(16).padStart(6, "0")}  ${hex.padEnd(LINE_BYTES * 3 - 1)}  ${shown}`)
  }
  return lines.join("\n")
}

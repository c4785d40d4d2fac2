/**
 * Makes text from outside safe for a terminal: no control characters, which could move the cursor or change the terminal's
 * settings, and no characters that reverse the direction of writing.
 */
import { StringDecoder } from "node:string_decoder"

const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** The same, but keeps the colour codes that a `Style` writes. */
const UNSAFE_OR_STYLE = new RegExp(String.raw`\u001b\[(?:[12]|22|3[1-6]|39)m|${UNSAFE.source}`, "gu")

const escaped = (char: string): string => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`

/** Line breaks and tabs become a visible sign, for text shown in one line. */
export const plainText = (text: string): string =>
  text.replace(UNSAFE, (char) => {
    if (char === "\n") return "⏎"
    if (char === "\t") return " "
    if (char === "\r") return ""
    return escaped(char)
  })

/** The same, line by line. */
export const plainLines = (text: string): string => text.split("\n").map(plainText).join("\n")

/**
 * Cleans whole messages just before a terminal shows them, in case a part from outside was not cleaned earlier. Keeps lines
 * and colours.
 */
export const plainOutput = (text: string): string =>
  text.replace(UNSAFE_OR_STYLE, (found) => {
    if (found === "\r") return ""
    return found.length > 1 || found === "\n" || found === "\t" ? found : escaped(found)
  })

/** JSON with the same meaning; JSON.stringify leaves some of these characters unescaped. */
export const plainJson = (json: string): string =>
  json.replace(UNSAFE, (char) => (char === "\n" ? char : escaped(char)))

/** Bytes on their way to a terminal, in any pieces. */
export const plainBytes = (): ((bytes: Uint8Array) => string) => {
  const decoder = new StringDecoder("utf8")
  return (bytes) =>
    decoder.write(Buffer.from(bytes)).replace(UNSAFE, (char) => (/[\n\r\t]/.test(char) ? char : escaped(char)))
}

/**
 * Makes foreign text safe for a terminal: no control characters, which could move the cursor, and no characters that
 * reverse the direction of writing.
 */

const UNSAFE = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/gu

/** Line breaks and tabs become a visible sign, for text shown in one line. */
export const plainText = (text: string): string =>
  text.replace(UNSAFE, (char) => {
    if (char === "\n") return "⏎"
    if (char === "\t") return " "
    if (char === "\r") return ""
    return `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`
  })

/** The same, line by line. */
export const plainLines = (text: string): string => text.split("\n").map(plainText).join("\n")

/**
 * Quotes a text as one word of a command line, in one line and without control characters, for copying into a terminal.
 * A quoted word means the same to every POSIX shell (dash, bash, zsh, ksh) and to fish: the shell interprets no
 * character of the text.
 */

/** zsh replaces a word such as `=ls` by the path of that program. */
const PLAIN = /^(?!=)[\w./:=@%+,-]+$/

/**
 * Characters that a quoted word cannot safely contain: shells disagree about `\` before `'`, and terminals act on the
 * others.
 */
const ENCODED = /[\p{Cc}\p{Zl}\p{Zp}\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069'\\]/gu

const octal = (text: string): string =>
  [...Buffer.from(text)].map((byte) => `\\0${byte.toString(8).padStart(3, "0")}`).join("")

/** The argument of `printf %b` that prints the text, in single quotes whatever it contains. */
const printed = (text: string): string => `'${text.replaceAll(ENCODED, octal)}'`

/** A command that writes the text, byte for byte, to the input of the next one. */
export const shellInput = (text: string): string => `printf %b ${printed(text)}`

/** Null for the few texts that no word can hold: those with a NUL or with a line break at the end. */
export const shellWord = (text: string): string | null => {
  if (PLAIN.test(text)) return text
  // Unless a backslash comes before it, the end of a quoted part is the same in every shell.
  if (text.replaceAll(ENCODED, (unit) => (unit === "'" ? unit : "")) === text) {
    return `'${text.replaceAll("'", String.raw`'\''`)}'`
  }
  return text.includes("\0") || text.endsWith("\n") ? null : `"$(${shellInput(text)})"`
}

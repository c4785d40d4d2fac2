/**
 * Texts without the difference between capital and small letters. Unicode's own upper case makes ß into SS, ﬁ into FI, and
 * both σ and ς into Σ, in JavaScript as in PostgreSQL. It leaves apart letters that people search for as one, which are
 * replaced before.
 */

/** The dotted I of Turkish, which is `i` and a dot (U+0307) as a small letter elsewhere, and the capital ß. */
export const LETTERS_ALIKE: ReadonlyArray<readonly [letter: string, as: string]> = [
  ["i\u0307", "i"],
  ["\u0130", "I"],
  ["\u1E9E", "ss"],
]

/** The form in which texts are compared: composed letters, in upper case. */
export const foldCase = (text: string): string =>
  LETTERS_ALIKE.reduce((folded, [letter, as]) => folded.replaceAll(letter, as), text.normalize("NFC")).toUpperCase()

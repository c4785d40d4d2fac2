/**
 * Values of senders within sentences: none can turn the words around it. An override of the direction that a value begins
 * ends with the value, and letters from right to left do not move the numbers beside them.
 */

/** Letters from right to left, and the marks that change the direction of what follows. */
const TURNS = /[\u0590-\u08ff\u200e\u200f\u202a-\u202e\u2066-\u2069\ufb1d-\ufdff\ufe70-\ufefc]/

const FIRST_STRONG_ISOLATE = "\u2068"
const POP_ISOLATE = "\u2069"

/**
 * The text as a unit of its own, whatever marks it has: isolates that it leaves open are closed, and what it closes without
 * having opened it, is opened before it. A text that turns nothing stays as it is.
 */
export const isolated = (text: string): string => {
  if (!TURNS.test(text)) return text
  let [open, unopened] = [0, 0]
  for (const [mark] of text.matchAll(/[\u2066-\u2069]/g)) {
    if (mark !== POP_ISOLATE) open++
    else if (open > 0) open--
    else unopened++
  }
  return FIRST_STRONG_ISOLATE.repeat(1 + unopened) + text + POP_ISOLATE.repeat(1 + open)
}

/** A sentence that was written elsewhere, in which the ends of its values are unknown: marks that turn text are shown instead. */
export const unturned = (sentence: string): string => sentence.replaceAll(/[\u202a-\u202e\u2066-\u2069]/g, "\ufffd")

/** The same words; the texts that their sentences are made of are isolated. */
export const isolatedWords = <W>(words: W): W => {
  if (typeof words === "function") {
    return ((...values: ReadonlyArray<unknown>) =>
      words(...values.map((value) => (typeof value === "string" ? isolated(value) : value)))) as W
  }
  if (typeof words !== "object" || words === null) return words
  if (Array.isArray(words)) return words.map(isolatedWords) as W
  return Object.fromEntries(Object.entries(words).map(([name, value]) => [name, isolatedWords(value)])) as W
}

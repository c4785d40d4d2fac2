/**
 * Whether a text contains another, in time that grows with their lengths alone. `String.includes` takes the product of the
 * lengths for texts that were made for it: a second for one of a megabyte.
 */

/** Up to this product of lengths the built-in search is fast, whatever the texts are. */
const BUILT_IN = 2_000_000

/** For each prefix of the pattern: the length of its longest proper prefix that is also its suffix. */
const borders = (pattern: string): Int32Array => {
  const lengths = new Int32Array(pattern.length)
  let length = 0
  for (let at = 1; at < pattern.length; at++) {
    const unit = pattern.charCodeAt(at)
    while (length > 0 && pattern.charCodeAt(length) !== unit) length = lengths[length - 1]!
    if (pattern.charCodeAt(length) === unit) length++
    lengths[at] = length
  }
  return lengths
}

/** The search of Knuth, Morris and Pratt, which never goes back in the text. */
export const searchForward = (text: string, pattern: string): boolean => {
  if (pattern === "") return true
  const lengths = borders(pattern)
  let matched = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    while (matched > 0 && pattern.charCodeAt(matched) !== unit) matched = lengths[matched - 1]!
    if (pattern.charCodeAt(matched) === unit) matched++
    if (matched === pattern.length) return true
  }
  return false
}

/** The same as `text.includes(pattern)`. `builtIn`: up to which product of lengths the built-in search is used. */
export const containsText = (text: string, pattern: string, builtIn = BUILT_IN): boolean =>
  text.length * pattern.length <= builtIn ? text.includes(pattern) : searchForward(text, pattern)

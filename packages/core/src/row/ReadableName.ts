/**
 * Creates readable names for tables and columns from text that people typed: ASCII letters, digits and underscores, at most
 * 63 bytes, unique in their scope. The text as typed stays the label.
 */
import anyAscii from "any-ascii"

const MAX_LENGTH = 63

/** PostgreSQL's system columns, the two columns that every source table begins with, and `_more`. */
const TAKEN_BY_THE_SYSTEM = new Set([
  "tableoid",
  "xmin",
  "cmin",
  "xmax",
  "cmax",
  "ctid",
  "_event_id",
  "_received_at",
  "_more",
])

const base = (words: string, fallback: string): string => {
  // Only the beginning can matter for the name, and a sender may send a megabyte.
  const ascii = anyAscii(words.slice(0, 200)).toLowerCase()
  const name = ascii
    .replace(/[^a-z0-9_]+/g, "_")
    .replace(/(?<=[^_])_+$/, "")
    .replace(/^_+(?=[^_])/, (run) => (words.startsWith("_") ? run : ""))
  const worn = name.replace(/^_+$/, "") === "" ? fallback : name
  return (/^[0-9]/.test(worn) ? `_${worn}` : worn).slice(0, MAX_LENGTH)
}

/**
 * Returns a name for `words` that is not in `taken`; `_2`, `_3`, … distinguish names that would be equal. `fallback` is the
 * name for text without any letter or digit.
 */
export const readableName = (words: string, taken: ReadonlySet<string>, fallback: string): string => {
  const name = base(words, fallback)
  const isFree = (candidate: string) => !taken.has(candidate) && !TAKEN_BY_THE_SYSTEM.has(candidate)
  if (isFree(name)) return name
  for (let n = 2; ; n++) {
    const suffix = `_${n}`
    const candidate = name.slice(0, MAX_LENGTH - suffix.length) + suffix
    if (isFree(candidate)) return candidate
  }
}

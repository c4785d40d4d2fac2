/**
 * Readable names for tables and columns, made from what people typed: ASCII letters, digits and underscores, at most
 * 63 bytes, unique where they stand. The words as typed stay the label.
 */
import anyAscii from "any-ascii"

const MAX_LENGTH = 63

/** Names that every table has of its own, and the two columns that every source table begins with. */
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
  // A name is looked at no further than could ever matter: a sender may send a megabyte.
  const ascii = anyAscii(words.slice(0, 200)).toLowerCase()
  const name = ascii
    .replace(/[^a-z0-9_]+/g, "_")
    .replace(/(?<=[^_])_+$/, "")
    .replace(/^_+(?=[^_])/, (run) => (words.startsWith("_") ? run : ""))
  const worn = name.replace(/^_+$/, "") === "" ? fallback : name
  return (/^[0-9]/.test(worn) ? `_${worn}` : worn).slice(0, MAX_LENGTH)
}

/**
 * A name for `words` that `taken` does not hold; `_2`, `_3`, … tell apart what would be one. `fallback` names what has
 * no letter or digit at all.
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

/** Determines from a cell's number format what its number represents. */

/**
 * `day`: a date, or a date with a time. `moment`: a date with a time; below 1 a time alone. `time`: a time of day. `span`: a
 * duration.
 */
export type NumberKind = "number" | "day" | "moment" | "time" | "span"

/** The formats built into every workbook. From 27 to 36 and from 50 to 58 they are East Asian dates and times. */
const BUILT_IN: ReadonlyMap<number, NumberKind> = new Map([
  ...[14, 15, 16, 17].map((id) => [id, "day"] as const),
  ...[18, 19, 20, 21, 45, 47].map((id) => [id, "time"] as const),
  [22, "moment"],
  [46, "span"],
  ...[27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map((id) => [id, "day"] as const),
  [32, "time"],
  [33, "time"],
])

/** The kind of a built-in format; undefined for formats that a workbook must define itself, and for plain numbers. */
export const builtInKind = (id: number): NumberKind => BUILT_IN.get(id) ?? "number"

/** Programs limit formats to 255 characters; a longer one is not a date format. */
const MAX_CODE = 1_000

/** The longest opening of a bracket that counts: `[hh]`, `[mm]`, `[ss]`. */
const isElapsed = (inside: string): boolean => /^(?:h{1,9}|m{1,9}|s{1,9})$/.test(inside)

/** The letters and placeholders of a format's first section, without colours, conditions, quoted texts and escapes. */
const sectionOf = (code: string): { readonly letters: string; readonly hasElapsed: boolean } => {
  let letters = ""
  let hasElapsed = false
  for (let at = 0; at < code.length && code[at] !== ";"; at++) {
    const character = code[at]!
    if (character === "\\" || character === "_" || character === "*") at++
    else if (character === '"' || character === "[") {
      const end = code.indexOf(character === "[" ? "]" : '"', at + 1)
      if (end === -1) break
      if (character === "[" && isElapsed(code.slice(at + 1, end).toLowerCase())) hasElapsed = true
      at = end
    } else letters += character.toLowerCase()
  }
  return { letters: letters.replaceAll(/general|e[+-]/g, ""), hasElapsed }
}

/** Whether an m among these letters is a month: next to hours or seconds it means minutes. */
const hasMonth = (letters: string): boolean => {
  const runs = letters.match(/([a-z])\1{0,9}/g) ?? []
  return runs.some((run, n) => {
    if (!run.startsWith("m")) return false
    const isMinutes = run.length < 3 && (runs[n - 1]?.startsWith("h") === true || runs[n + 1]?.startsWith("s") === true)
    return !isMinutes
  })
}

/** The kind of a format by its code, such as `dd.mm.yyyy` or `[h]:mm`. */
export const codeKind = (code: string): NumberKind => {
  if (code.length > MAX_CODE) return "number"
  const { letters, hasElapsed } = sectionOf(code)
  if (hasElapsed) return "span"
  const plain = letters.replaceAll(/am\/pm|a\/p/g, "")
  if (/[#?]/.test(plain)) return "number"
  const hasTime = plain.length < letters.length || /[hs]/.test(plain)
  const hasDay = /[yde]|bb|aaa/.test(plain) || hasMonth(plain)
  if (hasTime) return hasDay ? "moment" : "time"
  return hasDay ? "day" : "number"
}

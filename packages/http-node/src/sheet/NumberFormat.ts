/** What a cell's number format says that its number is. */

/**
 * `day`: a date, or a date with a time. `moment`: a date with a time; below 1 a time alone. `time`: a time of day. `span`: a
 * duration.
 */
export type NumberKind = "number" | "day" | "moment" | "time" | "span"

/** The formats that every workbook has. From 27 to 36 and from 50 to 58 they are dates, and times, of East Asia. */
const BUILT_IN: ReadonlyMap<number, NumberKind> = new Map([
  ...[14, 15, 16, 17].map((id) => [id, "day"] as const),
  ...[18, 19, 20, 21, 45, 47].map((id) => [id, "time"] as const),
  [22, "moment"],
  [46, "span"],
  ...[27, 28, 29, 30, 31, 34, 35, 36, 50, 51, 52, 53, 54, 55, 56, 57, 58].map((id) => [id, "day"] as const),
  [32, "time"],
  [33, "time"],
])

/** The kind of a built-in format; undefined for those that a workbook must define itself, and for plain numbers. */
export const builtInKind = (id: number): NumberKind => BUILT_IN.get(id) ?? "number"

/** Formats are up to 255 characters long in programs; a longer one is none of a date. */
const MAX_CODE = 1_000

/** Of a format's first section: without colours, quoted texts and escaped characters. */
const tokensOf = (code: string): string =>
  code
    .replaceAll(/"[^"]*"?|\\.|[_*]./gs, "")
    .replace(/;.*$/s, "")
    .replaceAll(/\[(?!h+\]|m+\]|s+\])[^\]]*\]/gi, "")
    .toLowerCase()

/** The kind of a format by its code, such as `dd.mm.yyyy` or `[h]:mm`. */
export const codeKind = (code: string): NumberKind => {
  if (code.length > MAX_CODE) return "number"
  const tokens = tokensOf(code).replaceAll(/general|e[+-]/g, "")
  if (/\[[hms]+\]/.test(tokens)) return "span"
  const noon = /am\/pm|a\/p/.test(tokens)
  const plain = tokens.replaceAll(/am\/pm|a\/p/g, "")
  if (/[#?]/.test(plain)) return "number"
  const hasTime = noon || /[hs]/.test(plain)
  // Beside hours or seconds, m is minutes.
  const months = hasTime ? plain.replaceAll(/h+[^a-z]*m{1,2}(?!m)|m{1,2}(?!m)[^a-z]*s/g, "") : plain
  const hasDay = /[yd]|m|g{1,3}e|bb|aaa/.test(months)
  if (hasTime) return hasDay ? "moment" : "time"
  return hasDay ? "day" : "number"
}

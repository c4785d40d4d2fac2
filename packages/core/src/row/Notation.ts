/**
 * How people write numbers and days where JSON's forms are not used: `1.234,50`, `02.03.2026`. A text is converted only
 * if it matches the notation exactly: groups of three digits with one separator throughout, no leading zeros, a
 * four-digit year. Values keep every digit; `1,50` is 1.50. An ambiguous text (`1.234`, `02.03.2026`) is refused unless
 * the notation resolves it, and a two-digit year always.
 *
 * Decision: docs/decisions/0075-notations-and-erasures.md
 */
import { isCalendarDay, matchesExactly } from "../text/ExactFormat.ts"
import type { ColumnKind } from "./FieldColumn.ts"

/** The decimal separator of numbers: `1.234,50` or `1,234.50`. */
export const NUMBER_NOTATIONS = ["comma", "dot"] as const
/** The order of day, month and year. A day that begins with its year is read in any of them. */
export const DATE_NOTATIONS = ["dmy", "mdy", "ymd"] as const

/** The decimal separator: a comma (`1.234,50`) or a dot (`1,234.50`). */
export type NumberNotation = (typeof NUMBER_NOTATIONS)[number]
/** The order of day, month and year: `02.03.2026` is 2 March in `dmy`, and 3 February in `mdy`. */
export type DateNotation = (typeof DATE_NOTATIONS)[number]

/** How numbers and days are written; a missing member means JSON's numbers or ISO 8601's days only. */
export interface Notation {
  /** How numbers are written. */
  readonly numbers?: NumberNotation | undefined
  /** How days are written. */
  readonly dates?: DateNotation | undefined
}

/** Why a column of one kind cannot be converted to another in this notation, in words; undefined if it can. */
export const refusedNotation = (from: ColumnKind, to: ColumnKind, { numbers, dates }: Notation): string | undefined => {
  if (numbers !== undefined && !NUMBER_NOTATIONS.includes(numbers)) return unknownNotation("numbers", NUMBER_NOTATIONS)
  if (dates !== undefined && !DATE_NOTATIONS.includes(dates)) return unknownNotation("dates", DATE_NOTATIONS)
  if (numbers !== undefined && to !== "numeric") return "A notation of numbers applies to the type numeric only."
  if (dates !== undefined && to !== "date" && to !== "timestamptz")
    return "A notation of dates applies to the types date and timestamptz only."
  // A column that already has the type is not converted.
  return (numbers ?? dates) === undefined || from === "text" || from === to
    ? undefined
    : `A notation applies to columns of text only; this one has the type ${from}.`
}

/** The message for a notation that does not exist. */
export const unknownNotation = (name: keyof Notation, all: ReadonlyArray<string>): string =>
  `The notation of ${name} must be one of ${all.join(", ")}.`

/** Spaces and apostrophes group digits in either notation: a space, a no-break space, a narrow one, `'` and `’`. */
const GROUPS = [" ", "\u00A0", "\u202F", "'", "\u2019"]
const MINUS = "\u2212"

/** As `\uXXXX`, which JavaScript and PostgreSQL read alike, and which needs no quoting in either. */
const escaped = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`

const numberPattern = (notation: NumberNotation): string => {
  const [point, group] = notation === "comma" ? [",", "."] : [".", ","]
  const grouped = [group, ...GROUPS].map((separator) => `([${escaped(separator)}][0-9]{3}){1,84}`)
  return `^[${escaped("-")}${escaped(MINUS)}]?(0|[1-9][0-9]{0,254}|[1-9][0-9]{0,2}(${grouped.join("|")}))([${point}][0-9]{1,255})?$`
}

const DAY = "(0?[1-9]|[12][0-9]|3[01])"
const MONTH = "(0?[1-9]|1[0-2])"
const YEAR = "(?!0000)[0-9]{4}"

const dayPattern = (notation: DateNotation): string => {
  const parts = { dmy: [DAY, MONTH, YEAR], mdy: [MONTH, DAY, YEAR], ymd: [YEAR, MONTH, DAY] }
  const inOrder = (order: DateNotation, separators: ReadonlyArray<string>) =>
    separators.map((separator) => parts[order].join(`[${separator}]`))
  const all = [...inOrder(notation, [".", "/", "-"]), ...(notation === "ymd" ? [] : inOrder("ymd", ["-"]))]
  return `(${all.join("|")})`
}

const TIME = "[T ]([01]?[0-9]|2[0-3]):[0-5][0-9](:[0-5][0-9]([.][0-9]{1,6})?)?"
const ZONE = "(Z|[+-](0[0-9]|1[0-5]):[0-5][0-9])"

/**
 * Anchored patterns with the same meaning in JavaScript and PostgreSQL. They do not check whether the day exists.
 * Undefined if the notation does not cover the kind.
 */
export const notationPattern = (kind: ColumnKind, { numbers, dates }: Notation): string | undefined => {
  if (kind === "numeric") return numbers === undefined ? undefined : numberPattern(numbers)
  if (dates === undefined) return undefined
  if (kind === "date") return `^${dayPattern(dates)}$`
  return kind === "timestamptz" ? `^${dayPattern(dates)}${TIME}${ZONE}$` : undefined
}

/** The characters that are replaced one by one, and those that follow them are removed, as PostgreSQL's `translate` does. */
export const numberTranslation = (notation: NumberNotation): { readonly from: string; readonly to: string } => ({
  from: `${notation === "comma" ? ",\u2212." : ".\u2212,"}${GROUPS.join("")}`,
  to: ".-",
})

/** The longest text that can be a number in a notation: 255 digits in groups, and as many after the separator. */
const MAX_LENGTH = 600

interface Reader {
  readonly pattern: RegExp
  readonly plain: (text: string) => string
}

const numberReader = (notation: NumberNotation): Reader => {
  const { from } = numberTranslation(notation)
  const rest = new RegExp(`[${Array.from(from.slice(2), escaped).join("")}]`, "gu")
  return {
    pattern: new RegExp(numberPattern(notation)),
    plain: (text) => text.replace(rest, "").replace(",", ".").replace(MINUS, "-"),
  }
}

const dayReader = (notation: DateNotation): Reader => ({
  pattern: new RegExp(`^${dayPattern(notation)}(${TIME}${ZONE}?)?$`),
  plain: (text) => {
    const end = text.search(/[T ]/)
    const parts = text.slice(0, end === -1 ? text.length : end).split(/[./-]/)
    const order = parts[0]!.length === 4 ? "ymd" : notation
    const part = (letter: string) => parts[order.indexOf(letter)]!.padStart(2, "0")
    const day = `${part("y")}-${part("m")}-${part("d")}`
    if (end === -1) return day
    const time = text.slice(end + 1)
    return `${day}T${time.indexOf(":") === 1 ? "0" : ""}${time}`
  },
})

const numberReaders = { comma: numberReader("comma"), dot: numberReader("dot") }
const dayReaders = { dmy: dayReader("dmy"), mdy: dayReader("mdy"), ymd: dayReader("ymd") }

/** The number as JSON writes it, or null if the text is not a number in this notation. */
export const readNumber = (text: string, notation: NumberNotation): string | null => {
  const { pattern, plain } = numberReaders[notation]
  return text.length <= MAX_LENGTH && pattern.test(text) ? plain(text) : null
}

/**
 * The day as `2026-03-02`, followed by `T` and the text of a time, if any; null if the text is not a day in this
 * notation.
 */
export const readDay = (text: string, notation: DateNotation): string | null => {
  const { pattern, plain } = dayReaders[notation]
  if (text.length > MAX_LENGTH || !pattern.test(text)) return null
  const day = plain(text)
  return isCalendarDay(day.slice(0, 10)) ? day : null
}

/** The text of a value of this kind as PostgreSQL reads it, or null if the text does not represent one exactly. */
export const readInNotation = (text: string, kind: ColumnKind, { numbers, dates }: Notation): string | null => {
  const plain =
    kind === "numeric" && numbers !== undefined
      ? readNumber(text, numbers)
      : (kind === "date" || kind === "timestamptz") && dates !== undefined
        ? readDay(text, dates)
        : text
  return plain !== null && matchesExactly(plain, kind) ? plain : null
}

/** Reports what a reader was not sure of: nothing is lost, but the result is worth a look. */
import * as Shape from "../json/Shape.ts"
import { counted } from "../text/Counted.ts"

/**
 * `encoding_unclear`: the charset was guessed, and the text hardly reads as one in it. `mark_ignored`: the file begins with
 * the byte order mark of another charset than its text is in. `delimiter_unclear`: several
 * delimiters fit, and the first was chosen without asking. `delimiter_tied`: another delimiter fits as well, but is
 * less likely. `spaces_in_cells`: the lines were read as one column, but spaces divide them evenly. `no_rows`: there is
 * at most a header. `sheets_skipped`: sheets before the one that was read are empty. `titles_skipped`: lines above the header were left out.
 * `headers_skipped`: rows that repeat the header were left out. `totals_row`: the last rows look like totals.
 * `short_rows`: rows have fewer cells than the header. `values_replaced`: values hold U+FFFD for characters that could
 * not be decoded.
 */
export const DOUBT_KINDS = [
  "encoding_unclear",
  "mark_ignored",
  "delimiter_unclear",
  "delimiter_tied",
  "spaces_in_cells",
  "no_rows",
  "sheets_skipped",
  "titles_skipped",
  "headers_skipped",
  "totals_row",
  "short_rows",
  "values_replaced",
] as const

/** A kind of doubt. */
export type DoubtKind = (typeof DOUBT_KINDS)[number]

/** Where a doubt occurs, counted from 1. */
export interface DoubtPlace {
  readonly line: number
  /** The position of a character in the line, or the number of a cell in a sheet. */
  readonly column: number | null
}

export interface Doubt {
  readonly kind: DoubtKind
  readonly count: number
  /** The first places where it occurs; none for sheets. */
  readonly places: ReadonlyArray<DoubtPlace>
  /** One sentence in English. */
  readonly message: string
}

/** A doubt as the APIs show it. */
export const doubtShape = Shape.object<Doubt>("A doubt.", {
  kind: Shape.oneOf(DOUBT_KINDS),
  count: Shape.whole("How often it was found."),
  places: Shape.list(
    Shape.object<DoubtPlace>("A place.", {
      line: Shape.whole("The line, from 1."),
      column: Shape.orNull(Shape.whole("The column, from 1; null: the whole line.")),
    }),
    "The first places, at most 5; none for sheets.",
  ),
  message: Shape.text("One sentence in English."),
})

const MAX_PLACES = 5

const titles = (count: number) => `The header is below ${counted(count, "line")} of titles, which are left out.`

const MESSAGES: Readonly<Record<DoubtKind, (count: number) => string>> = {
  encoding_unclear: () =>
    "The encoding is a guess that the text does not confirm: look at the first rows, and pass the right encoding if they cannot be read.",
  mark_ignored: () =>
    "The file begins with the byte order mark of another encoding than its text is in; the mark was left out.",
  delimiter_unclear: () => "Several delimiters fit, and the first of them was taken: check that the cells are right.",
  delimiter_tied: () => "A comma would divide the lines evenly as well; pass a delimiter if the cells are wrong.",
  spaces_in_cells: () =>
    "Spaces divide the lines evenly, but each line was read as one cell: export the file as CSV, or pass a space as the delimiter if the cells are wrong.",
  no_rows: () =>
    "There are no rows: the first line, if any, was read as the header. Import it without a header if it is a row.",
  sheets_skipped: (count) =>
    `The first sheet with rows was read; ${counted(count, "sheet before it is", "sheets before it are")} empty.`,
  titles_skipped: titles,
  headers_skipped: (count) =>
    `${counted(count, "row repeats the header and is", "rows repeat the header and are")} left out.`,
  totals_row: (count) =>
    `${counted(count, "row looks", "rows look")} like a total, and became an event as the others did.`,
  short_rows: (count) =>
    `${counted(count, "row has", "rows have")} fewer cells than the header; the missing fields are left out.`,
  values_replaced: (count) =>
    `${counted(count, "value holds", "values hold")} U+FFFD for characters that the encoding does not have.`,
}

/** A doubt with its message; `count` is how often it was found. */
export const doubtOf = (kind: DoubtKind, places: ReadonlyArray<DoubtPlace>, count = places.length): Doubt => ({
  kind,
  count,
  places,
  message: MESSAGES[kind](count),
})

/** Collects the doubts of one reading. */
export class DoubtLog {
  readonly #found = new Map<DoubtKind, { count: number; readonly places: Array<DoubtPlace> }>()

  add(kind: DoubtKind, line: number, column: number | null = null): void {
    const found = this.#found.get(kind) ?? { count: 0, places: [] }
    this.#found.set(kind, found)
    found.count++
    if (found.places.length < MAX_PLACES) found.places.push({ line, column })
  }

  /** A doubt without a place; nothing if the count is 0. */
  note(kind: DoubtKind, count: number): void {
    if (count > 0) this.#found.set(kind, { count, places: [] })
  }

  /** All doubts so far, in the order of their kinds. */
  get all(): ReadonlyArray<Doubt> {
    return DOUBT_KINDS.flatMap((kind) => {
      const found = this.#found.get(kind)
      return found === undefined ? [] : [doubtOf(kind, [...found.places], found.count)]
    })
  }
}

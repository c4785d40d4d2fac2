/** Reports what a reader was not sure of: nothing is lost by it, but somebody should look. */
import { counted } from "../text/Counted.ts"

/**
 * `delimiter_tied`: another delimiter fits as well. `titles_skipped`: lines above the header were left out. `totals_row`: the
 * last rows look like totals. `short_rows`: rows have fewer cells than the header. `values_replaced`: values hold U+FFFD for
 * characters that could not be decoded. `tables_skipped`: an HTML page has other tables. `cells_spanned`: cells of an HTML
 * table span rows or columns.
 */
export const DOUBT_KINDS = [
  "delimiter_tied",
  "titles_skipped",
  "totals_row",
  "short_rows",
  "values_replaced",
  "tables_skipped",
  "cells_spanned",
] as const

export type DoubtKind = (typeof DOUBT_KINDS)[number]

export interface DoubtPlace {
  readonly line: number
  /** The position of a character in the line, or the number of a cell in a sheet. */
  readonly column: number | null
}

export interface Doubt {
  readonly kind: DoubtKind
  readonly count: number
  /** The first places. */
  readonly places: ReadonlyArray<DoubtPlace>
  /** One sentence in English. */
  readonly message: string
}

const MAX_PLACES = 5

const titles = (count: number) => `The header is below ${counted(count, "line")} of titles, which are left out.`

const MESSAGES: Readonly<Record<DoubtKind, (count: number) => string>> = {
  delimiter_tied: () => "A comma would divide the lines evenly as well; pass a delimiter if the cells are wrong.",
  titles_skipped: titles,
  totals_row: (count) =>
    `${counted(count, "row looks", "rows look")} like a total, and became an event as the others did.`,
  short_rows: (count) =>
    `${counted(count, "row has", "rows have")} fewer cells than the header; the missing fields are left out.`,
  values_replaced: (count) =>
    `${counted(count, "value holds", "values hold")} U+FFFD for characters that the encoding does not have.`,
  tables_skipped: (count) =>
    `The page has ${counted(count, "other table")}, which ${count === 1 ? "was" : "were"} not read.`,
  cells_spanned: (count) =>
    `${counted(count, "cell spans", "cells span")} rows or columns; its value is repeated below, and not beside it.`,
}

/** Collects the doubts of one reading. */
export class DoubtLog {
  readonly #found = new Map<DoubtKind, { count: number; readonly places: Array<DoubtPlace> }>()

  add(kind: DoubtKind, line: number, column: number | null = null, times = 1): void {
    const found = this.#found.get(kind) ?? { count: 0, places: [] }
    this.#found.set(kind, found)
    found.count += times
    if (found.places.length < MAX_PLACES) found.places.push({ line, column })
  }

  /** Those so far, in the order of their kinds. */
  get all(): ReadonlyArray<Doubt> {
    return DOUBT_KINDS.flatMap((kind) => {
      const found = this.#found.get(kind)
      return found === undefined
        ? []
        : [{ kind, count: found.count, places: [...found.places], message: MESSAGES[kind](found.count) }]
    })
  }
}

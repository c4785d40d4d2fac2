/**
 * Splits a wide table's columns into parts and limits the first page by its number of cells, so that a screen stays
 * small whatever the table's width. Each part has its own address, which works without a script.
 */
import { DEFAULT_LIMIT } from "@data-cabinet/core/pagination/Page"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf, without } from "../screen/SelectionLinks.ts"

/** The console's own parameter, not part of the selection. */
export const PART = "part"

/** A table with more columns is shown in parts. */
export const WHOLE_COLUMNS = 40
export const PART_COLUMNS = 24

const MAX_CELLS = 1_500
const LEAST_ROWS = 25

export interface ColumnPart {
  /** Counted from 1. */
  readonly part: number
  readonly parts: number
  /** The places of its columns among the shown ones; `to` is exclusive. */
  readonly from: number
  readonly to: number
}

/** The requested part, or by default the one with the sorted column. Null for a table that is shown whole. */
export const columnPart = (shown: ReadonlyArray<string>, pairs: Pairs): ColumnPart | null => {
  if (shown.length <= WHOLE_COLUMNS) return null
  const parts = Math.ceil(shown.length / PART_COLUMNS)
  const sorted = Math.max(0, shown.indexOf(valueOf(pairs, "sort") ?? ""))
  const requested = valueOf(pairs, PART) ?? ""
  const wanted = /^\d{1,6}$/.test(requested) ? Number(requested) : 1 + Math.floor(sorted / PART_COLUMNS)
  const part = Math.min(Math.max(1, wanted), parts)
  const from = (part - 1) * PART_COLUMNS
  return { part, parts, from, to: Math.min(from + PART_COLUMNS, shown.length) }
}

/** Names a column of badges, in the address of further rows alone. */
export const BADGE = "badge"

/** The selection alone. */
export const withoutPart = (pairs: Pairs): Pairs => without(pairs, PART, BADGE)

/** The selection with fewer rows on its page, if it names no number and so many columns are shown. */
export const withRows = (pairs: Pairs, columns: number): Pairs => {
  const rows = Math.max(LEAST_ROWS, Math.floor(MAX_CELLS / Math.max(1, columns)))
  return rows >= DEFAULT_LIMIT || valueOf(pairs, "limit") !== undefined ? pairs : [...pairs, ["limit", String(rows)]]
}

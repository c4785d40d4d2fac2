/**
 * Remembers how long recent pages took, by statement, so that no slow page holds up quick ones. A page is quick relative to
 * the quickest page of the same table, because on a busy machine all pages take long.
 */
import type { PageQuery } from "@data-cabinet/core/row/RowReader"

/** A page that takes less than this, in milliseconds, is never slow. */
const QUICK_MILLIS = 5

/** A page that takes this many times as long as the quickest one of its table is slow. */
const SLOW_RATIO = 3

/** The factor by which each slower page raises the quickest time, because a whole table may become slower. */
const GROWTH = 1.02

/** The limits on remembered statements: their number and their length. */
const MAX_STATEMENTS = 500
const MOST_LENGTH = 8_000

export class PageTimes {
  /** The moving average of each statement's times, in which the latest counts for half. */
  readonly #millis = new Map<string, number>()
  readonly #quickest = new WeakMap<PageQuery["table"], number>()

  /** Whether a page is known to be quick; false for an unknown statement. */
  isQuick({ table, text }: PageQuery): boolean {
    const millis = this.#millis.get(text)
    if (millis === undefined) return false
    return millis <= QUICK_MILLIS || millis <= SLOW_RATIO * (this.#quickest.get(table) ?? 0)
  }

  note({ table, text }: PageQuery, millis: number): void {
    if (text.length > MOST_LENGTH) return
    const before = this.#millis.get(text)
    if (before === undefined && this.#millis.size >= MAX_STATEMENTS) this.#millis.clear()
    const mean = before === undefined ? millis : (before + millis) / 2
    this.#millis.set(text, mean)
    this.#quickest.set(table, Math.min(mean, (this.#quickest.get(table) ?? mean) * GROWTH))
  }
}

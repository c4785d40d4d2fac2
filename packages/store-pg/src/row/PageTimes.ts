/**
 * How long pages took lately, by their statement, so that one that is slow is not put in front of those that are quick. What
 * counts as quick is relative to the quickest page of the same table: on a busy machine all of them take long.
 */
import type { PageQuery } from "@data-cabinet/core/row/RowReader"

/** No page that takes less is slow, in milliseconds. */
const QUICK_MILLIS = 5

/** A page that takes this many times as long as the quickest one of its table is slow. */
const SLOW_RATIO = 3

/** How much the quickest time grows with each slower page: a table may become slower as a whole. */
const GROWTH = 1.02

/** The most statements that are known, and the longest. */
const MAX_STATEMENTS = 500
const MOST_LENGTH = 8_000

export class PageTimes {
  /** The mean of a statement's last times, of which the newest counts for half. */
  readonly #millis = new Map<string, number>()
  readonly #quickest = new WeakMap<PageQuery["table"], number>()

  /** False for a statement that is not known. */
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

/**
 * The pages of a walk through a selection, each as the lines that the server wrote. A page is found by the cursor that
 * leads to it, so a dropped page is requested again exactly as the first time. The selection is the one the screen was
 * opened with; the address bar is never read.
 */
import { fetchText } from "./Fragment.ts"

interface Page {
  /** Null for the first. */
  readonly cursor: string | null
  /** The number of its first row. */
  readonly from: number
  readonly count: number
  lines: ReadonlyArray<string> | null
}

/** How many pages on each side of the visible one keep their text. */
const KEPT_PAGES = 20
const PAGE_ROWS = 200

export class Pages {
  readonly #path: string
  readonly #pages: Array<Page>
  #next: string | null
  readonly #loading = new Map<number, Promise<void>>()

  constructor(path: string, cursor: string | null, lines: ReadonlyArray<string>, next: string | null) {
    this.#path = path
    this.#pages = [{ cursor, from: 0, count: lines.length, lines }]
    this.#next = next
  }

  /** How many rows are known. */
  get length(): number {
    const last = this.#pages.at(-1)
    return last === undefined ? 0 : last.from + last.count
  }

  get isWhole(): boolean {
    return this.#next === null
  }

  /** The line of a row; undefined while it is not here. */
  line(row: number): string | undefined {
    const page = this.#pages[this.#pageOf(row)]
    return page?.lines?.[row - page.from]
  }

  /** Loads the pages of these rows, and two more; resolves when a page has arrived. */
  async ensure(from: number, to: number): Promise<boolean> {
    const first = this.#pageOf(from)
    const last = this.#pageOf(Math.min(to, this.length - 1))
    const missing: Array<Promise<void>> = []
    for (let at = first; at <= last; at++) if (this.#pages[at]?.lines === null) missing.push(this.#load(at))
    for (const [at, page] of this.#pages.entries()) {
      if (at < first - KEPT_PAGES || at > last + KEPT_PAGES) page.lines = null
    }
    if (this.#next !== null && to + 2 * PAGE_ROWS > this.length) missing.push(this.#append())
    await Promise.all(missing)
    return missing.length > 0
  }

  #pageOf(row: number): number {
    let low = 0
    let high = this.#pages.length - 1
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if (this.#pages[middle]!.from <= row) low = middle
      else high = middle - 1
    }
    return low
  }

  async #ask(cursor: string | null, count: number): Promise<{ lines: ReadonlyArray<string>; next: string | null }> {
    const mark = this.#path.includes("?") ? "&" : "?"
    const limited = /[?&]limit=/.test(this.#path)
      ? this.#path.replace(/([?&]limit=)\d+/, `$1${count}`)
      : `${this.#path}${mark}limit=${count}`
    const response = await fetchText(cursor === null ? limited : `${limited}&cursor=${encodeURIComponent(cursor)}`)
    const text = await response.text()
    return { lines: text === "" ? [] : text.split("\n"), next: response.headers.get("x-next-cursor") }
  }

  #once(key: number, work: () => Promise<void>): Promise<void> {
    const known = this.#loading.get(key)
    if (known !== undefined) return known
    const begun = work().finally(() => this.#loading.delete(key))
    this.#loading.set(key, begun)
    return begun
  }

  #load(at: number): Promise<void> {
    return this.#once(at, async () => {
      const page = this.#pages[at]!
      const { lines } = await this.#ask(page.cursor, Math.max(1, page.count))
      page.lines = lines
    })
  }

  #append(): Promise<void> {
    return this.#once(-1, async () => {
      const cursor = this.#next
      if (cursor === null) return
      const { lines, next } = await this.#ask(cursor, PAGE_ROWS)
      this.#pages.push({ cursor, from: this.length, count: lines.length, lines })
      this.#next = next
    })
  }
}

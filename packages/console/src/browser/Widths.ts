/**
 * The widths of a table's columns: dragged at the right edge of a heading, or changed by `<` and `>` in a cell, and reset by a
 * double click. They are kept for each table in this browser: the address is that of the API, which has no widths.
 */
import { say } from "./Fragment.ts"

/** How close to the right edge of a heading a drag begins, in pixels. */
const EDGE = 7
const LEAST = 40
const STEP = 24

const nameOf = (heading: HTMLTableCellElement): string => {
  const menu = heading.querySelector<HTMLAnchorElement>("a[data-menu]")
  return menu === null ? "" : (new URL(menu.href).searchParams.get("column") ?? "")
}

class Widths {
  readonly table: HTMLTableElement
  readonly headings: ReadonlyArray<HTMLTableCellElement>
  readonly #columns: ReadonlyArray<HTMLTableColElement>
  readonly #key = `widths ${location.pathname}`

  constructor(table: HTMLTableElement) {
    this.table = table
    this.headings = [...table.tHead!.rows[0]!.cells]
    this.#columns = [...table.querySelectorAll("col")]
    const widths = this.#kept()
    for (const [at, heading] of this.headings.entries()) {
      const width = at > 0 ? widths[nameOf(heading)] : undefined
      // The name of a column may be that of a member of every object.
      if (typeof width !== "number") continue
      this.set(at, width)
      table.style.minWidth = "0"
    }
  }

  /** Null for a width that the server chose. */
  set(at: number, width: number | null): void {
    this.#columns[at]!.style.width = width === null ? "" : `${Math.max(LEAST, Math.round(width))}px`
  }

  /** Columns that share the rest of the screen would move during the drag. */
  freeze(): void {
    const widths = this.headings.map((heading) => heading.getBoundingClientRect().width)
    for (const [at, width] of widths.entries()) if (at > 0) this.set(at, width)
    this.table.style.minWidth = "0"
  }

  /** A browser may refuse to keep anything. */
  #kept(): Partial<Record<string, number>> {
    try {
      return (JSON.parse(localStorage.getItem(this.#key) ?? "null") ?? {}) as Partial<Record<string, number>>
    } catch {
      return {}
    }
  }

  keep(): void {
    const all = this.#kept()
    for (const [at, heading] of this.headings.entries()) {
      const width = Number.parseFloat(this.#columns[at]!.style.width)
      if (at > 0 && width > 0) all[nameOf(heading)] = width
    }
    try {
      localStorage.setItem(this.#key, JSON.stringify(all))
    } catch {}
  }

  reset(): void {
    for (const at of this.#columns.keys()) this.set(at, null)
    this.table.style.minWidth = ""
    try {
      localStorage.removeItem(this.#key)
    } catch {}
  }
}

/** The heading whose right edge is at the pointer. */
const headingAt = ({ target, clientX }: MouseEvent): HTMLTableCellElement | undefined => {
  const over = target instanceof Element ? target.closest("th") : null
  if (over === null || over.cellIndex === 0) return undefined
  return over.getBoundingClientRect().right - clientX <= EDGE ? over : undefined
}

const drags = (widths: Widths): void => {
  const head = widths.table.tHead!
  head.addEventListener("pointerdown", (event) => {
    const heading = headingAt(event)
    if (heading === undefined || event.button !== 0 || event.pointerType === "touch") return
    event.preventDefault()
    widths.freeze()
    const [at, from, width] = [heading.cellIndex, event.clientX, heading.getBoundingClientRect().width]
    const end = new AbortController()
    const { signal } = end
    const stop = () => {
      end.abort()
      widths.keep()
    }
    addEventListener("pointermove", ({ clientX }) => widths.set(at, width + clientX - from), { signal })
    addEventListener("pointerup", stop, { signal })
    addEventListener("pointercancel", stop, { signal })
  })
  // A click at the edge is for neither the heading nor its menu.
  const click = (event: MouseEvent) => {
    if (headingAt(event) === undefined) return
    event.preventDefault()
    event.stopPropagation()
    if (event.detail === 2) widths.reset()
  }
  head.addEventListener("click", click, true)
}

export const columnWidths = (box: HTMLElement): void => {
  const widths = new Widths(box.querySelector("table")!)
  drags(widths)
  box.addEventListener("keydown", ({ key: pressed, target }) => {
    const step = { "<": -STEP, ">": STEP }[pressed]
    if (step === undefined || document.body.dataset["letters"] === "off") return
    if (!(target instanceof HTMLTableCellElement) || target.cellIndex === 0) return
    widths.freeze()
    const heading = widths.headings[target.cellIndex]!
    widths.set(target.cellIndex, heading.getBoundingClientRect().width + step)
    widths.keep()
    say(`${Math.round(heading.getBoundingClientRect().width)} px`)
  })
}

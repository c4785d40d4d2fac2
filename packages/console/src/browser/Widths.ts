/**
 * The widths of a table's columns: dragged at the right edge of a heading, or changed by `<` and `>` in a cell, and reset by a
 * double click. They are kept for each table in this browser: the address is that of the API, which has no widths.
 */
import { say } from "./Fragment.ts"

/** How far from its edge a heading is taken by it, in pixels. */
const EDGE = 7
const LEAST = 40
const STEP = 24

const nameOf = (heading: HTMLTableCellElement): string => {
  const menu = heading.querySelector<HTMLAnchorElement>("a[data-menu]")
  return menu === null ? "" : (new URL(menu.href).searchParams.get("column") ?? "")
}

export const columnWidths = (box: HTMLElement): void => {
  const table = box.querySelector("table")!
  const headings = [...table.tHead!.rows[0]!.cells]
  const columns = [...table.querySelectorAll("col")]
  const key = `widths ${location.pathname}`

  /** Null for a width that the server chose. */
  const set = (at: number, width: number | null) => {
    columns[at]!.style.width = width === null ? "" : `${width}px`
  }
  /** A browser may refuse to keep anything. */
  const kept = (): Partial<Record<string, number>> => {
    try {
      return JSON.parse(localStorage.getItem(key) ?? "{}") as Partial<Record<string, number>>
    } catch {
      return {}
    }
  }
  const keep = () => {
    const all: Record<string, number> = kept() as Record<string, number>
    for (const [at, heading] of headings.entries()) {
      const width = Number.parseFloat(columns[at]!.style.width)
      if (at > 0 && width > 0) all[nameOf(heading)] = width
    }
    try {
      localStorage.setItem(key, JSON.stringify(all))
    } catch {}
  }
  /** Columns that share what is left of the screen would move under the hand. */
  const freeze = () => {
    const widths = headings.map((heading) => heading.getBoundingClientRect().width)
    for (const [at, width] of widths.entries()) set(at, Math.round(width))
    table.style.minWidth = "0"
  }
  const reset = () => {
    for (const at of columns.keys()) set(at, null)
    table.style.minWidth = ""
    try {
      localStorage.removeItem(key)
    } catch {}
  }

  const widths = kept()
  for (const [at, heading] of headings.entries()) {
    const width = at > 0 ? widths[nameOf(heading)] : undefined
    if (width === undefined) continue
    set(at, width)
    table.style.minWidth = "0"
  }

  /** The heading whose edge is here: a drag begins a little left of it, or at the next one. */
  const headingAt = ({ target, clientX }: MouseEvent): HTMLTableCellElement | undefined => {
    const over = target instanceof Element ? target.closest("th") : null
    if (over === null || over.cellIndex === 0) return undefined
    return over.getBoundingClientRect().right - clientX <= EDGE ? over : undefined
  }
  table.tHead!.addEventListener("pointerdown", (event) => {
    const heading = headingAt(event)
    if (heading === undefined || event.button !== 0 || event.pointerType === "touch") return
    event.preventDefault()
    freeze()
    const [at, from, width] = [heading.cellIndex, event.clientX, heading.getBoundingClientRect().width]
    const end = new AbortController()
    const { signal } = end
    const move = ({ clientX }: PointerEvent) => set(at, Math.max(LEAST, Math.round(width + clientX - from)))
    const stop = () => {
      end.abort()
      keep()
    }
    addEventListener("pointermove", move, { signal })
    addEventListener("pointerup", stop, { signal })
    addEventListener("pointercancel", stop, { signal })
  })
  // Neither the heading nor its menu is meant by a click at the edge.
  table.tHead!.addEventListener(
    "click",
    (event) => {
      if (headingAt(event) === undefined) return
      event.preventDefault()
      event.stopPropagation()
      if (event.detail === 2) reset()
    },
    true,
  )
  box.addEventListener("keydown", ({ key: pressed, target }) => {
    const step = { "<": -STEP, ">": STEP }[pressed]
    if (step === undefined || document.body.dataset["letters"] === "off") return
    if (!(target instanceof HTMLTableCellElement) || target.cellIndex === 0) return
    freeze()
    const width = Math.max(LEAST, headings[target.cellIndex]!.getBoundingClientRect().width + step)
    set(target.cellIndex, Math.round(width))
    keep()
    say(`${Math.round(width)} px`)
  })
}

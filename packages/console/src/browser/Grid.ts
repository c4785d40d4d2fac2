/**
 * A table that loads more rows as it scrolls: only the rows in sight are elements, two spacers hold the height of the
 * others. Arrow keys move a cell, Enter opens its row, C copies its value exactly. After a failure the links below the
 * table remain, which do the same.
 */
import { Foot } from "./Foot.ts"
import { fetchText, say, setHtml, spacer } from "./Fragment.ts"
import { Pages } from "./Pages.ts"

/** Rows kept as elements beyond those in sight, on each side. */
const MARGIN = 12
/** Browsers limit an element's height to some 17 million pixels; the link to the next page leads to the rows beyond. */
const MAX_ROWS = 400_000

/** Printing includes the rows loaded so far, up to this many. */
const PRINTED_ROWS = 1_000

export class Grid {
  readonly #box: HTMLElement
  readonly #body: HTMLTableSectionElement
  readonly #pages: Pages
  readonly #above: HTMLTableRowElement
  readonly #below: HTMLTableRowElement
  readonly #panel: HTMLElement | null
  readonly #foot: Foot
  #rowHeight = 30
  #first = -1
  #last = -1
  #row = -1
  #column = 1
  #frame = 0

  constructor(box: HTMLElement) {
    this.#box = box
    this.#body = box.querySelector("tbody")!
    const lines = [...this.#body.rows].map((row) => row.outerHTML.replaceAll("\n", "&#10;").replaceAll("\r", "&#13;"))
    this.#rowHeight = this.#body.rows[0]?.getBoundingClientRect().height ?? 30
    this.#pages = new Pages(box.dataset["rows"]!, box.dataset["cursor"] ?? null, lines, box.dataset["next"] ?? null)
    const columns = this.#body.rows[0]?.cells.length ?? 1
    this.#above = spacer(columns)
    this.#below = spacer(columns)
    this.#panel = document.getElementById("panel")
    this.#foot = new Foot(box)
    box.addEventListener("scroll", () => this.#soon(), { passive: true })
    box.addEventListener("keydown", (event) => this.#key(event))
    this.#body.addEventListener("click", (event) => this.#click(event))
    addEventListener("resize", () => this.#soon())
    this.#panel?.addEventListener("click", ({ target }) => {
      if (target instanceof Element && target.closest("[data-close]") !== null) this.#close()
    })
    document.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.#panel?.hidden === false) this.#close()
    })
    addEventListener("popstate", () => this.#hide())
    addEventListener("beforeprint", () => this.#draw(0, Math.min(this.#length, PRINTED_ROWS)))
    addEventListener("afterprint", () => this.#soon())
    document.querySelector<HTMLElement>("a[rel=next]")?.toggleAttribute("hidden", true)
    // A narrow screen begins with the column that describes the row.
    const about = box.querySelector<HTMLElement>("th.p")
    if (about !== null && matchMedia("(max-width:42rem)").matches)
      box.scrollLeft = about.offsetLeft - box.querySelector("th")!.clientWidth
    this.#soon()
  }

  #soon(): void {
    if (this.#frame !== 0) return
    this.#frame = requestAnimationFrame(() => {
      this.#frame = 0
      this.#show()
    })
  }

  get #length(): number {
    return Math.min(this.#pages.length, MAX_ROWS)
  }

  #show(): void {
    const head = this.#body.parentElement!.querySelector("thead")!.clientHeight
    const seen = Math.ceil((this.#box.clientHeight - head) / this.#rowHeight)
    const top = Math.floor(this.#box.scrollTop / this.#rowHeight)
    const first = Math.max(0, Math.min(top, this.#length - seen) - MARGIN)
    const last = Math.min(this.#length, top + seen + MARGIN)
    if (first !== this.#first || last !== this.#last) this.#draw(first, last)
    void this.#fetch(first, last)
  }

  async #fetch(first: number, last: number): Promise<void> {
    try {
      if (!(await this.#pages.ensure(first, last))) return
    } catch {
      document.querySelector<HTMLElement>("a[rel=next]")?.toggleAttribute("hidden", false)
      return
    }
    this.#first = -1
    this.#soon()
  }

  #draw(first: number, last: number): void {
    const focused = document.activeElement instanceof HTMLElement && this.#body.contains(document.activeElement)
    const lines: Array<string> = []
    for (let row = first; row < last; row++) lines.push(this.#pages.line(row) ?? '<tr class="gap"><td>&nbsp;</td></tr>')
    setHtml(this.#body, lines.join(""))
    const rows = [...this.#body.rows]
    for (const [at, row] of rows.entries()) row.ariaRowIndex = String(first + at + 2)
    this.#above.cells[0]!.style.height = `${first * this.#rowHeight}px`
    this.#below.cells[0]!.style.height = `${(this.#length - last) * this.#rowHeight}px`
    this.#body.prepend(this.#above)
    this.#body.append(this.#below)
    this.#first = first
    this.#last = last
    this.#foot.count(this.#length, this.#pages.isWhole)
    this.#mark(focused)
  }

  #rowElement(row: number): HTMLTableRowElement | undefined {
    return row < this.#first || row >= this.#last ? undefined : this.#body.rows[row - this.#first + 1]
  }

  #mark(focus: boolean): void {
    this.#foot.column(this.#row < 0 ? undefined : this.#heading())
    const row = this.#rowElement(this.#row)
    for (const other of this.#body.querySelectorAll("tr.on")) if (other !== row) other.classList.remove("on")
    if (row === undefined) {
      if (focus) this.#box.focus({ preventScroll: true })
      return
    }
    row.classList.add("on")
    const cell = row.cells[this.#column]
    if (!focus || cell === undefined) return
    cell.tabIndex = -1
    cell.focus({ preventScroll: true })
    cell.scrollIntoView({ block: "nearest", inline: "nearest" })
    // A column that stays in sight would cover it.
    const pinned = row.querySelector(".p")
    const covered =
      pinned === null || pinned === cell ? 0 : pinned.getBoundingClientRect().right - cell.getBoundingClientRect().left
    if (covered > 0 && cell.cellIndex > (pinned as HTMLTableCellElement).cellIndex) this.#box.scrollLeft -= covered
  }

  #go(row: number, column = this.#column): void {
    this.#row = Math.max(0, Math.min(row, this.#length - 1))
    this.#column = Math.max(1, Math.min(column, (this.#above.cells[0]?.colSpan ?? 2) - 1))
    const head = this.#body.parentElement!.querySelector("thead")!.clientHeight
    const top = this.#row * this.#rowHeight
    const room = this.#box.clientHeight - head - this.#rowHeight
    if (top < this.#box.scrollTop) this.#box.scrollTop = top
    else if (top > this.#box.scrollTop + room) this.#box.scrollTop = top - room
    this.#show()
    this.#mark(true)
    if (this.#panel?.hidden === false) this.#open()
  }

  #key(event: KeyboardEvent): void {
    if (event.key.length === 1 && document.body.dataset["letters"] === "off") return
    if (event.altKey || event.target instanceof HTMLInputElement || event.target instanceof HTMLSelectElement) return
    if (event.target instanceof Element && event.target.closest("thead") !== null) return
    const page = Math.max(1, Math.floor(this.#box.clientHeight / this.#rowHeight) - 2)
    const whole = event.ctrlKey || event.metaKey
    const step: Readonly<Record<string, () => void>> = {
      ArrowDown: () => this.#go(this.#row + 1),
      ArrowUp: () => this.#go(this.#row - 1),
      j: () => this.#go(this.#row + 1),
      k: () => this.#go(this.#row - 1),
      ArrowRight: () => this.#go(Math.max(0, this.#row), this.#row < 0 ? 1 : this.#column + 1),
      ArrowLeft: () => this.#go(Math.max(0, this.#row), this.#column - 1),
      PageDown: () => this.#go(this.#row + page),
      PageUp: () => this.#go(this.#row - page),
      Home: () => (whole ? this.#go(0) : this.#go(Math.max(0, this.#row), 1)),
      End: () => (whole ? this.#go(this.#length - 1) : this.#go(Math.max(0, this.#row), 10_000)),
      Enter: () => this.#open(),
      c: () => void this.#copy(),
    }
    if (whole && event.key !== "Home" && event.key !== "End") return
    const act = step[event.key]
    if (act === undefined) return
    if (event.key === "Enter" && event.target instanceof HTMLAnchorElement) return
    event.preventDefault()
    act()
  }

  #click(event: MouseEvent): void {
    if (!(event.target instanceof Element) || event.ctrlKey || event.metaKey || event.shiftKey) return
    const cell = event.target.closest("td")
    const row = cell?.closest("tr")
    if (!cell || !row || getSelection()?.isCollapsed === false) return
    if (event.target.closest("a") !== null) event.preventDefault()
    this.#row = this.#first + [...this.#body.rows].indexOf(row) - 1
    this.#column = Math.max(1, cell.cellIndex)
    this.#mark(true)
    this.#open()
  }

  #open(): void {
    const link = this.#rowElement(this.#row)?.querySelector<HTMLAnchorElement>(".o a")
    const panel = this.#panel
    if (!link || panel === null) return
    void this.#fill(panel, link.href)
  }

  async #fill(panel: HTMLElement, address: string): Promise<void> {
    const row = this.#row
    try {
      const text = await (await fetchText(address)).text()
      if (this.#row !== row) return
      setHtml(panel, text)
      // Back closes the panel: on a phone it covers the screen.
      if (panel.hidden) history.pushState(null, "")
      panel.hidden = false
    } catch {
      location.assign(address)
    }
  }

  #close(): void {
    history.back()
    this.#hide()
  }

  #hide(): void {
    if (this.#panel?.hidden !== false) return
    this.#panel.hidden = true
    this.#mark(true)
  }

  /** Names the value in the opened row, whose columns have the table's own order. */
  #heading(): HTMLElement | undefined {
    return this.#body.parentElement!.querySelector("tr")?.cells[this.#column]
  }

  /** The value as the server wrote it; a value that is cut in the table is fetched whole. */
  async #copy(): Promise<void> {
    const cell = this.#rowElement(this.#row)?.cells[this.#column]
    if (cell === undefined) return
    const time = cell.querySelector("time")
    let text = time?.dateTime ?? cell.textContent ?? ""
    if (cell.dataset["cut"] !== undefined) {
      const link = this.#rowElement(this.#row)?.querySelector<HTMLAnchorElement>(".o a")
      if (!link) return
      const whole = document.createElement("div")
      setHtml(whole, await (await fetchText(link.href)).text())
      const { value = "" } = this.#heading()?.dataset ?? {}
      text = whole.querySelector(`#${value}`)?.textContent ?? text
    }
    await navigator.clipboard.writeText(text)
    say(document.documentElement.lang === "ru" ? "Скопировано" : "Copied")
  }
}

/**
 * The foot of a table: how many rows are loaded, and the sum and average of the column that the keyboard or a click is in. They
 * are read when it stays there for a moment, or after a click where that could take long.
 */
import { fetchText, setHtml } from "./Fragment.ts"

const REST_MILLIS = 300

export class Foot {
  readonly #count = document.getElementById("count")
  readonly #sum = document.getElementById("sum")
  readonly #readsBySelf: boolean
  #heading: HTMLElement | undefined
  #reading: AbortController | undefined

  constructor(box: HTMLElement) {
    this.#readsBySelf = box.dataset["sums"] !== undefined
  }

  count(rows: number, isWhole: boolean): void {
    if (this.#count === null) return
    this.#count.textContent = inWords(this.#count, rows, isWhole)
    // All are here, and counted.
    if (isWhole) document.querySelector("[data-total]")?.toggleAttribute("hidden", true)
  }

  column(heading: HTMLElement | undefined): void {
    if (heading === this.#heading || this.#sum === null) return
    this.#heading = heading
    this.#reading?.abort()
    this.#sum.textContent = ""
    const menu = heading?.querySelector<HTMLAnchorElement>("a[data-menu]")
    if (heading?.dataset["sum"] === undefined || !menu) return
    const address = menu.href.replace("/menu?", "/count?")
    if (this.#readsBySelf) void this.#read(this.#sum, address)
    else {
      const link = document.createElement("a")
      link.href = address
      link.dataset["into"] = "sum"
      link.textContent = `${heading.querySelector("span")?.textContent ?? ""}: ${this.#sum.dataset["link"] ?? ""}`
      this.#sum.replaceChildren(link)
    }
  }

  async #read(place: HTMLElement, address: string): Promise<void> {
    const reading = new AbortController()
    this.#reading = reading
    try {
      await new Promise((resolve) => setTimeout(resolve, REST_MILLIS))
      if (reading.signal.aborted) return
      const text = await (await fetchText(address, reading.signal)).text()
      if (!reading.signal.aborted) setHtml(place, text)
    } catch {
      // The menu of the column leads to the same.
    }
  }
}

/**
 * In the server's words. A complete count takes the plural form of its number, a partial one ("5,000+") that of many.
 */
const inWords = ({ dataset }: HTMLElement, rows: number, isWhole: boolean): string => {
  const { lang } = document.documentElement
  const forms = JSON.parse(dataset["forms"] ?? "{}") as Partial<Record<string, string>>
  const form = forms[isWhole ? new Intl.PluralRules(lang).select(rows) : "many"] ?? forms["other"] ?? ""
  return `${rows.toLocaleString(lang)}${isWhole ? "" : "+"} ${form}${isWhole ? (dataset["all"] ?? "") : ""}`
}

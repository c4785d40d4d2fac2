/**
 * Counts new events since a list was loaded, in the link that loads it again. The stream is closed while the tab is hidden,
 * because a browser opens few connections per host, and is resumed from the same position.
 */
import { fetchText, say, setHtml } from "./Fragment.ts"

/** Delays before a refused stream is retried, in milliseconds; longer each time. */
const FIRST_PAUSE_MILLIS = 2_000
const MAX_PAUSE_MILLIS = 60_000

class Live {
  readonly #link: HTMLAnchorElement
  readonly #title = document.title
  #stream: EventSource | null = null
  /** The cursor of the last counted event. */
  #last = ""
  #count = 0
  #more = false
  #pause = FIRST_PAUSE_MILLIS
  #timer: ReturnType<typeof setTimeout> | undefined

  constructor(link: HTMLAnchorElement) {
    this.#link = link
    document.addEventListener("visibilitychange", () => this.#look())
    addEventListener("pagehide", () => this.#close())
    addEventListener("pageshow", () => this.#look())
    this.#look()
  }

  #look(): void {
    if (document.hidden) this.#close()
    else if (this.#stream === null) this.#open()
  }

  #open(): void {
    clearTimeout(this.#timer)
    const address = new URL(this.#link.dataset["live"] ?? "", location.href)
    if (this.#last !== "") address.searchParams.set("cursor", this.#last)
    const stream = new EventSource(address)
    this.#stream = stream
    stream.addEventListener("open", () => {
      this.#pause = FIRST_PAUSE_MILLIS
      this.#show()
    })
    stream.addEventListener("message", ({ lastEventId, data }: MessageEvent<string>) => {
      this.#last = lastEventId
      const [events = 0, rows = 0, more = 0] = data.split(" ").map(Number)
      this.#more ||= more === 1
      this.#add(this.#link.dataset["counts"] === "rows" ? rows : events)
    })
    stream.addEventListener("error", () => {
      this.#show()
      // A connection that broke is tried again by the browser; a response that was no stream is not.
      if (stream.readyState !== EventSource.CLOSED) return
      this.#close()
      this.#timer = setTimeout(() => this.#look(), this.#pause)
      this.#pause = Math.min(2 * this.#pause, MAX_PAUSE_MILLIS)
    })
  }

  #close(): void {
    clearTimeout(this.#timer)
    this.#stream?.close()
    this.#stream = null
    this.#show()
  }

  #add(count: number): void {
    if (count === 0) return
    const place = document.getElementById(this.#link.dataset["first"] ?? "")
    if (place?.querySelector("[data-waiting]")) void this.#fill(place).catch(() => this.#addNews(count))
    else this.#addNews(count)
  }

  #addNews(count: number): void {
    const isFirst = this.#count === 0
    this.#count += count
    this.#show()
    if (isFirst) say(this.#link.textContent ?? "")
  }

  async #fill(place: HTMLElement): Promise<void> {
    setHtml(place, await (await fetchText(this.#link.dataset["from"] ?? "")).text())
    say(place.textContent ?? "")
  }

  #show(): void {
    const { idle = "", reload = "", some = "", new: one = "", more = "", counts } = this.#link.dataset
    const isOpen = this.#stream?.readyState === EventSource.OPEN
    this.#link.classList.toggle("on", isOpen)
    this.#link.classList.toggle("news", this.#count > 0)
    const numbers = new Intl.NumberFormat(document.documentElement.lang)
    const number = numbers.format(this.#count)
    const news = counts === "some" ? some : (this.#more ? more : one).replace("#", number)
    // A number of what waits, which grows with the news.
    const waiting = document.querySelector<HTMLElement>("[data-waits]")
    if (waiting !== null && counts === "rows" && this.#count > 0) {
      const all = Number(waiting.dataset["waits"]) + this.#count
      const form = new Intl.PluralRules(document.documentElement.lang).select(all) === "one" ? "one" : "other"
      waiting.textContent = (waiting.dataset[form] ?? "").replace("#", numbers.format(all))
      waiting.hidden = false
    }
    this.#link.textContent = this.#count > 0 ? news : isOpen ? idle : reload
    document.title = this.#count > 0 && counts !== "some" ? `(${number}) ${this.#title}` : this.#title
  }
}

export const liveLinks = (): void => {
  for (const link of document.querySelectorAll<HTMLAnchorElement>("a[data-live]")) Reflect.construct(Live, [link])
}

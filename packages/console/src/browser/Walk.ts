/**
 * A list whose lines open beside it: a click opens one, `j` and `k` walk. The open line is in the page's address, so that it can be
 * shared and the browser's Back closes it.
 */
import { fetchText, setHtml } from "./Fragment.ts"
import { isWriting } from "./Keys.ts"

const OPEN = "#open-"

/** An opened line counts as read: the form that marks it is sent and removed. */
const seen = (panel: Element, row: Element): void => {
  const form = panel.querySelector<HTMLFormElement>("form.seen")
  if (form === null) return
  const body = new URLSearchParams(new FormData(form) as unknown as Record<string, string>)
  form.remove()
  void fetch(form.action, { method: "POST", body, headers: { "x-fragment": "1" }, redirect: "error" }).then(
    () => row.classList.remove("new"),
    () => {},
  )
}

export const walkLists = (): void => {
  const list = document.querySelector("table[data-walk]")
  const panel = document.getElementById("panel")
  if (list === null || panel === null) return
  const links = [...list.querySelectorAll<HTMLAnchorElement>("th a")]
  const rowOf = (link: HTMLAnchorElement) => link.closest("tr")!
  const hashOf = (link: HTMLAnchorElement) => OPEN + rowOf(link).id
  const current = () => links.findIndex((link) => hashOf(link) === location.hash)

  const show = async () => {
    const link = links[current()]
    for (const one of links) rowOf(one).classList.toggle("on", one === link)
    if (link === undefined) {
      panel.hidden = true
      return
    }
    try {
      const text = await (await fetchText(link.href)).text()
      if (hashOf(link) !== location.hash) return
      setHtml(panel, text)
      // An act after which the line may be gone leads to the one that follows it, or to the one before.
      const next = links[current() + 1] ?? links[current() - 1]
      for (const form of panel.querySelectorAll<HTMLFormElement>("form.next")) if (next) form.action += hashOf(next)
      seen(panel, rowOf(link))
      panel.hidden = false
      rowOf(link).scrollIntoView({ block: "nearest" })
    } catch {
      location.assign(link.href)
    }
  }

  /** Each step replaces the previous line in the history, so that one Back leaves them all. */
  const open = (link: HTMLAnchorElement) => {
    history[panel.hidden ? "pushState" : "replaceState"](null, "", hashOf(link))
    link.focus({ preventScroll: true })
    return show()
  }

  const close = () => {
    const link = links[current()]
    history.replaceState(null, "", location.pathname + location.search)
    void show()
    link?.focus({ preventScroll: true })
  }

  addEventListener("popstate", () => void show())
  list.addEventListener("click", (event) => {
    const { target } = event as MouseEvent
    if (!(target instanceof Element)) return
    // All of a line opens it, but what acts by itself, and text that is being selected.
    const own = target.closest("a,button,input,label")
    const link = links.find((one) => (own === null ? rowOf(one).contains(target) : one === own))
    if (own === null && getSelection()?.isCollapsed === false) return
    const { ctrlKey, metaKey, shiftKey } = event as MouseEvent
    if (link === undefined || ctrlKey || metaKey || shiftKey) return
    event.preventDefault()
    void open(link).then(() => panel.focus({ preventScroll: true }))
  })
  panel.addEventListener("click", ({ target }) => {
    if (target instanceof Element && target.closest("[data-close]") !== null) close()
  })
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
    if (event.key === "Escape" && !panel.hidden) close()
    const step = { j: 1, k: -1 }[event.key]
    if (step === undefined || document.body.dataset["letters"] === "off") return
    const link = links[Math.max(0, current() + step)]
    if (link !== undefined) void open(link)
  })
  void show()
}

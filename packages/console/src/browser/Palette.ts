/**
 * Ctrl K (on a Mac ⌘K) opens the palette above any screen. The field keeps the focus, and the arrows choose an option of the list,
 * which the server finds for what is typed.
 */
import { fetchText, setHtml } from "./Fragment.ts"

export const palette = (): void => {
  const link = document.querySelector<HTMLAnchorElement>("a[data-palette]")
  const dialog = document.querySelector<HTMLDialogElement>("dialog.palette")
  if (link === null || dialog === null) return
  const field = dialog.querySelector("input")!
  const list = dialog.querySelector("[role=listbox]")!
  const isMac = /^(?:Mac|iP)/.test(navigator.platform)
  if (isMac) link.querySelector("kbd")!.textContent = "⌘K"

  let options: ReadonlyArray<HTMLElement> = []
  let chosen = 0
  const choose = (at: number): void => {
    options[chosen]?.removeAttribute("aria-selected")
    chosen = (at + options.length) % options.length || 0
    const option = options[chosen]
    option?.setAttribute("aria-selected", "true")
    field.setAttribute("aria-activedescendant", option?.id ?? "")
    // The heading of the first group stays in sight.
    if (chosen === 0) list.scrollTop = 0
    else option?.scrollIntoView({ block: "nearest" })
  }

  const fill = async (): Promise<void> => {
    try {
      let asked: string
      let text: string
      do {
        asked = field.value
        text = await (await fetchText(`${link.pathname}?q=${encodeURIComponent(asked)}`)).text()
      } while (asked !== field.value)
      setHtml(list, text)
    } catch {
      location.assign(link.href)
    }
    options = [...list.querySelectorAll<HTMLElement>("a")]
    choose(0)
    dialog.querySelector("[role=status]")!.textContent = list.querySelector("[data-announced]")?.textContent ?? ""
  }
  /** One request at a time: the list follows when typing is faster. */
  let filling: Promise<void> | null = null
  const refresh = () => {
    filling ??= fill().finally(() => (filling = null))
  }

  const open = (event: Event): void => {
    event.preventDefault()
    if (dialog.open) return dialog.close()
    dialog.showModal()
    field.select()
    refresh()
  }
  link.addEventListener("click", (event) => {
    if (!event.ctrlKey && !event.metaKey && !event.shiftKey) open(event)
  })
  addEventListener("keydown", (event) => {
    const { metaKey, ctrlKey, shiftKey, altKey } = event
    if (event.code === "KeyK" && !shiftKey && !altKey && (isMac ? metaKey && !ctrlKey : ctrlKey && !metaKey))
      open(event)
  })
  field.addEventListener("input", refresh)
  field.addEventListener("keydown", (event) => {
    // In a search field it would only clear the text at first.
    if (event.key === "Escape") dialog.close()
    if (event.key === "Enter") void Promise.resolve(filling).then(() => options[chosen]?.click())
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (step === undefined) return
    event.preventDefault()
    choose(chosen + step)
  })
  // An option, the button that closes it, or the ground around it.
  dialog.addEventListener("click", ({ target }) => {
    if (target === dialog || (target instanceof Element && target.closest("a,[data-shut]") !== null)) dialog.close()
  })

  addEventListener("hashchange", openNamed)
  openNamed()
}

/** Opens the menu that the address names, with its form. */
const openNamed = (): void => {
  const menu = document.getElementById(location.hash.slice(1))
  if (!menu?.popover) return
  const source = document.querySelector<HTMLElement>(`[popovertarget="${CSS.escape(menu.id)}"]`)
  menu.showPopover(source === null ? {} : { source })
  menu.querySelector<HTMLElement>("input:not([type=hidden]),select")?.focus()
}

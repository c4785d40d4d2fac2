/** Menus whose content is read when they are opened: a link with `data-menu` fills the menu of that id, and opens it there. */
import { fetchText, setHtml } from "./Fragment.ts"

export const menusOnDemand = (): void => {
  /** The link whose menu was open when the button was pressed, which closes it before the click. */
  let closing: Element | null = null
  let opener: Element | null = null
  const linkOf = ({ target }: Event) =>
    target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-menu]") : null
  const menuOf = (link: HTMLAnchorElement) => document.getElementById(link.dataset["menu"] ?? "")

  addEventListener(
    "pointerdown",
    (event) => {
      const link = linkOf(event)
      const isOpen = link !== null && menuOf(link)?.matches(":popover-open") === true
      closing = isOpen && opener === link ? link : null
    },
    true,
  )
  document.addEventListener("click", (event) => {
    const link = linkOf(event)
    const menu = link === null ? null : menuOf(link)
    if (link === null || menu === null || event.ctrlKey || event.metaKey || event.shiftKey) return
    event.preventDefault()
    if (closing === link) closing = null
    else void open(link, menu)
  })

  const open = async (link: HTMLAnchorElement, menu: HTMLElement): Promise<void> => {
    opener = link
    try {
      setHtml(menu, await (await fetchText(link.href)).text())
      // The place of the menu, and of the keyboard's next stop.
      menu.showPopover({ source: link })
    } catch {
      location.assign(link.href)
    }
  }
}

/**
 * Links to short screens that are shown in place: the screen's content is inserted into the element that the link names. A link
 * with `data-again`, which is in that element itself, is followed every two seconds until the content has no such link. One with
 * `data-now` is followed as soon as the page is shown.
 */
import { fetchText, say, setHtml } from "./Fragment.ts"

const AGAIN_MILLIS = 2_000

export const linksInto = (): void => {
  document.addEventListener("click", (event) => {
    const { target } = event
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-into]") : null
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
    const place = document.getElementById(link.dataset["into"] ?? "")
    if (place === null) return
    event.preventDefault()
    const menu = link.closest<HTMLElement>("[popover]")
    const isBehind = menu?.contains(place) === false
    // Content behind an open menu or below the window would stay unseen.
    if (isBehind) menu.hidePopover()
    void fill(place, link).then(() => isBehind && place.scrollIntoView({ block: "nearest" }))
  })
  again(document)
  const now = document.querySelectorAll<HTMLAnchorElement>("a[data-now]")
  if (now.length > 0) {
    // After the page's own elements are drawn.
    requestAnimationFrame(() =>
      setTimeout(() => now.forEach((link) => void fill(document.getElementById(link.dataset["into"]!)!, link))),
    )
  }
}

const again = (within: ParentNode): void => {
  const link = within.querySelector<HTMLAnchorElement>("a[data-again]")
  const place = document.getElementById(link?.dataset["into"] ?? "")
  if (link === null || place === null) return
  setTimeout(() => {
    // The user may have followed it in the meantime.
    if (!link.isConnected) return
    // New content would close a menu under the user's hand.
    if (document.hidden || place.querySelector(":popover-open")) again(place)
    else void fill(place, link)
  }, AGAIN_MILLIS)
}

const fill = async (place: HTMLElement, link: HTMLAnchorElement): Promise<void> => {
  const isAgain = link.dataset["again"] !== undefined
  const isAsked = !isAgain && link.dataset["now"] === undefined
  place.ariaBusy = "true"
  try {
    const text = await (await fetchText(link.href)).text()
    // Opened while the content was loading.
    if (isAgain && place.querySelector(":popover-open")) return
    const focused = document.activeElement
    const target = place.contains(focused) ? targetOf(focused) : null
    setHtml(place, text)
    if (isAgain) {
      ;[...place.querySelectorAll<HTMLElement>("a,button")]
        .find((one) => target !== null && targetOf(one) === target)
        ?.focus({ preventScroll: true })
      if (place.querySelector("a[data-again]") === null) say(place.querySelector(".badge")?.textContent ?? "")
    } else if (focused === link) place.querySelector<HTMLElement>("[aria-current]")?.focus()
  } catch {
    if (isAsked) location.assign(link.href)
  } finally {
    place.ariaBusy = null
    again(place)
  }
}

/** What a link or button leads to; the same one is found by it in the new content. */
const targetOf = (element: Element | null): string | null =>
  element?.getAttribute("popovertarget") ?? element?.getAttribute("href") ?? null

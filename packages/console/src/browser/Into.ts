/** Links to short screens that are shown in place: the screen's content is inserted into the element that the link names. */
import { fetchText, setHtml } from "./Fragment.ts"

export const linksInto = (): void => {
  document.addEventListener("click", (event) => {
    const { target } = event
    const link = target instanceof Element ? target.closest<HTMLAnchorElement>("a[data-into]") : null
    if (link === null || event.ctrlKey || event.metaKey || event.shiftKey) return
    const place = document.getElementById(link.dataset["into"] ?? "")
    if (place === null) return
    event.preventDefault()
    void fill(place, link)
  })
}

const fill = async (place: HTMLElement, link: HTMLAnchorElement): Promise<void> => {
  place.ariaBusy = "true"
  try {
    setHtml(place, await (await fetchText(link.href)).text())
  } catch {
    location.assign(link.href)
  } finally {
    place.ariaBusy = null
  }
}

/**
 * Shortcuts of every screen: `/` focuses the search, `?` opens the list of shortcuts, `.` shows new events, `g` and a letter
 * open a section.
 */

/** How long `g` waits for its letter. */
const LEAD_MILLIS = 1_500

/** Whether a key is typed into a field. */
export const isWriting = (target: EventTarget | null): boolean =>
  target instanceof HTMLElement && /^(?:INPUT|SELECT|TEXTAREA)$/.test(target.tagName)

export const keys = (): void => {
  if (document.body.dataset["letters"] === "off") return
  let led = -LEAD_MILLIS
  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || isWriting(event.target)) return
    const isLed = event.timeStamp - led < LEAD_MILLIS
    led = -LEAD_MILLIS
    if (isLed) document.querySelector<HTMLAnchorElement>(`[data-go="${CSS.escape(event.key)}"]`)?.click()
    else if (event.key === "g") led = event.timeStamp
    else if (event.key === ".") document.querySelector<HTMLAnchorElement>("a.live")?.click()
    else if (event.key === "?") document.getElementById("keys")?.togglePopover()
    else if (event.key === "/") search(event)
  })
}

const search = (event: KeyboardEvent): void => {
  const field = document.querySelector<HTMLInputElement>('[data-key="/"]')
  if (field === null) return
  event.preventDefault()
  field.select()
  field.focus()
}

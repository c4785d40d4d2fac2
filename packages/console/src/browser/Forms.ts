/** What the script adds to forms: a second click sends nothing, and one box marks every line of a list. */

/** After this time a click counts again, for example after the browser's stop button was used. */
const IN_FLIGHT_MILLIS = 10_000

export const submitOnce = (): void => {
  const sent = new Map<EventTarget, number>()
  addEventListener("pageshow", () => sent.clear())
  document.addEventListener("submit", (event) => {
    const { target: form, timeStamp } = event
    if (!(form instanceof HTMLFormElement) || form.method !== "post" || event.defaultPrevented) return
    if (timeStamp - (sent.get(form) ?? -IN_FLIGHT_MILLIS) < IN_FLIGHT_MILLIS) event.preventDefault()
    else sent.set(form, timeStamp)
  })
}

/** A box that marks every line of a form's list. Without a script it is hidden. */
export const markAll = (): void => {
  for (const all of document.querySelectorAll<HTMLInputElement>("input[data-all]")) {
    const boxes = document.querySelectorAll<HTMLInputElement>(
      `tbody input[type=checkbox][form="${CSS.escape(all.dataset["all"] ?? "")}"]`,
    )
    const label = all.closest("label")
    if (label !== null) label.hidden = boxes.length === 0
    all.addEventListener("change", () => {
      for (const box of boxes) box.checked = all.checked
    })
    for (const box of boxes) {
      box.addEventListener("change", () => {
        const marked = [...boxes].filter(({ checked }) => checked).length
        all.checked = marked === boxes.length
        all.indeterminate = marked > 0 && !all.checked
      })
    }
  }
}

/** Sends the secret of a one-time link, which is in the address's fragment, and removes it from the address immediately. */
export const claimLink = (): void => {
  claim()
  // The link opened in a tab that shows this screen changes only the fragment.
  addEventListener("hashchange", claim)
}

const claim = (): void => {
  const form = document.querySelector<HTMLFormElement>("form[data-claim]")
  const input = form?.querySelector<HTMLInputElement>("input[name=link]")
  const secret = location.hash.slice(1)
  if (!form || !input || !/^dcl_[\w-]{43}$/.test(secret)) return
  history.replaceState(null, "", location.pathname)
  input.value = secret
  form.requestSubmit()
}

/** A second press while a form is under way sends nothing: the response to the first may hold what is shown only once. */

/** After this time a press counts again, as after a stop of the browser's. */
const UNDER_WAY_MILLIS = 10_000

export const submitOnce = (): void => {
  const sent = new Map<EventTarget, number>()
  addEventListener("pageshow", () => sent.clear())
  document.addEventListener("submit", (event) => {
    const { target: form, timeStamp } = event
    if (!(form instanceof HTMLFormElement) || form.method !== "post" || event.defaultPrevented) return
    if (timeStamp - (sent.get(form) ?? -UNDER_WAY_MILLIS) < UNDER_WAY_MILLIS) event.preventDefault()
    else sent.set(form, timeStamp)
  })
}

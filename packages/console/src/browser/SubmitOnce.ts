/**
 * A second click while a form is in flight sends nothing: the response to the first may contain a secret that is shown
 * only once.
 */

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

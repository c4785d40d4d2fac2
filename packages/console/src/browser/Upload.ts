/** A form with a file: shows the progress of the upload, and the result where the form says. */
import { setHtml } from "./Fragment.ts"

export const uploads = (): void => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form[data-upload]")) {
    const place = document.getElementById(form.dataset["upload"] ?? "")
    form.addEventListener("submit", (event) => {
      if (place === null) return
      event.preventDefault()
      send(form, new FormData(form, event.submitter), place)
    })
  }
}

const send = (form: HTMLFormElement, data: FormData, place: HTMLElement): void => {
  const progress = form.querySelector("progress")!
  const buttons = form.querySelectorAll<HTMLButtonElement>("button:not([data-stop])")
  const stop = form.querySelector<HTMLButtonElement>("[data-stop]")
  const request = new XMLHttpRequest()
  let isStopped = false
  const end = (): void => {
    isStopped = true
    request.abort()
  }
  stop?.addEventListener("click", end, { once: true })
  const under = (way: boolean): void => {
    progress.classList.toggle("hide", !way)
    stop?.toggleAttribute("hidden", !way)
    place.ariaBusy = String(way)
    for (const button of buttons) button.disabled = way
  }
  request.upload.addEventListener("progress", ({ loaded, total }) => {
    // All of it is sent; how long the server takes to read it is unknown.
    if (loaded < total) progress.value = loaded / total
    else progress.removeAttribute("value")
  })
  request.addEventListener("loadend", () => {
    under(false)
    const { status, responseText: text } = request
    // If the session has ended, the response is a whole screen, whose main part gives the reason.
    const [from, to] = [text.indexOf("<main"), text.indexOf("</main>")]
    if (isStopped) place.textContent = ""
    else if (status === 0) place.textContent = form.dataset["failed"] ?? ""
    else setHtml(place, from < 0 ? text : text.slice(text.indexOf(">", from) + 1, to))
  })
  under(true)
  request.open("POST", form.action)
  request.setRequestHeader("x-fragment", "1")
  request.send(data)
}

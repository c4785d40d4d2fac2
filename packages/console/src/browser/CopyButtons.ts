/** Buttons that copy the content of the field or element whose id they name. */
import { say } from "./Fragment.ts"

const textOf = (element: HTMLElement | null): string =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement
    ? element.value
    : (element?.textContent ?? "")

export const copyButtons = (): void => {
  document.addEventListener("click", ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLElement>("[data-copy]") : null
    if (button === null) return
    const text = textOf(document.getElementById(button.dataset["copy"] ?? ""))
    void copy(button, text)
  })
}

const copy = async (button: HTMLElement, text: string): Promise<void> => {
  try {
    await navigator.clipboard.writeText(text)
  } catch {
    // The browser does not allow it here, but the text is in a field and can be selected.
    return
  }
  button.classList.add("done")
  say("✓")
  setTimeout(() => button.classList.remove("done"), 1_500)
}

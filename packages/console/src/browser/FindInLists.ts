/** Filters a list on the screen while the search is typed. The form around the field does the same on the server. */

export const findInLists = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[data-find]")) {
    field.addEventListener("input", () => {
      const wanted = field.value.trim().toLowerCase()
      const list = document.getElementById(field.dataset["find"] ?? "")
      for (const line of list?.querySelectorAll<HTMLElement>("tbody tr") ?? []) {
        line.hidden = !(line.textContent ?? "").toLowerCase().includes(wanted)
      }
    })
  }
}

/** Filters while they are typed: lists on the screen, and the names of columns in a filter line. */

/** The form around the field does the same on the server. */
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

/** The line up to a name that is being written, and the name. */
const BEGUN = /^(|.*?(?:[,(]|\s(?:and|or|и|или)\s)\s*)([^\s,()]*)$/isu

/** A browser completes only a whole field, so each choice is the line up to here. */
export const filterLines = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[form][list]")) {
    const options = [...(field.list?.querySelectorAll("option") ?? [])].map((option) => [option, option.value] as const)
    field.addEventListener("input", () => {
      const head = BEGUN.exec(field.value)?.[1] ?? ""
      for (const [option, name] of options) option.value = head + name
    })
  }
}

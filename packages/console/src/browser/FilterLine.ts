/** Completes the names of columns in a filter line. A browser completes only a whole field, so each choice is the line up to here. */

/** The line up to a name that is being written, and the name. */
const BEGUN = /^(|.*?(?:[,(]|\s(?:and|or|и|или)\s)\s*)([^\s,()]*)$/isu

export const filterLines = (): void => {
  for (const field of document.querySelectorAll<HTMLInputElement>("input[form][list]")) {
    const options = [...(field.list?.querySelectorAll("option") ?? [])].map((option) => [option, option.value] as const)
    field.addEventListener("input", () => {
      const head = BEGUN.exec(field.value)?.[1] ?? ""
      for (const [option, name] of options) option.value = head + name
    })
  }
}

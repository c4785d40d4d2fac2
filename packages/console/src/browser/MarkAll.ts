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

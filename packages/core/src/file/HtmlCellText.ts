/** The text of a cell of an HTML table, as a browser shows it. */

/** White space within a line is one space; lines without text at the beginning and the end are left out. */
export const shownText = (lines: ReadonlyArray<string>): string => {
  const text = lines
    .map((line) => (line === "" ? "" : line.replaceAll(/[\t\n\f\r ]+/g, " ").replaceAll(/^ | $/g, "")))
    .join("\n")
    .replaceAll(/^\n+/g, "")
  let end = text.length
  while (text[end - 1] === "\n") end--
  const shown = text.slice(0, end)
  return shown.replaceAll("\u00a0", "") === "" ? "" : shown
}

/** The first rows of a file as a table of its fields, as in the file itself. Values keep every digit. */
import { cellTokens, shownText } from "@data-cabinet/core/row/CellTokens"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { jsonTree, treeRoom } from "../html/JsonTree.ts"

const MAX_CHARACTERS = 200

/** A row is its event's payload: an object as compact JSON. */
const cellsOf = (row: string): ReadonlyMap<string, string> => {
  const tokens = cellTokens(row)
  return new Map(Object.keys(JSON.parse(row) as object).map((name, at) => [name, tokens[at] ?? "null"]))
}

/**
 * A JavaScript object would move names that are integers to the front, and a name may occur twice: such rows do not
 * fit a table.
 */
const isPlain = (row: string): boolean => {
  if (!row.startsWith("{")) return false
  const names = Object.keys(JSON.parse(row) as object)
  return names.length === cellTokens(row).length && names.every((name) => !/^\d+$/.test(name) && name !== "__proto__")
}

const cut = (text: string): string =>
  text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS).toWellFormed()}…` : text

const cell = (token: string | undefined): Html => {
  if (token === undefined || token === "null") return markup`<td class="z"></td>`
  const text = shownText(token)
  return text === "" ? markup`<td class="e"></td>` : markup`<td>${cut(text)}</td>`
}

const LOOKS = {
  numbers: /^[-+]?(?:\d+|\d{1,3}(?:[. \u00A0]\d{3})+),\d+$/,
  days: /^\d{1,2}[./]\d{1,2}[./]\d{4}$/,
} as const

/**
 * The fields whose shown values are all numbers with a decimal comma, or all days in a local notation. Unless the notation is
 * chosen, they become text, which sorts 9,50 after 10.
 */
export const localFields = (rows: ReadonlyArray<string>, looks: keyof typeof LOOKS): ReadonlyArray<string> => {
  const lines = rows.filter(isPlain).map(cellsOf)
  return [...new Set(lines.flatMap((line) => [...line.keys()]))].filter((name) => {
    const texts = lines.map((line) => shownText(line.get(name) ?? '""')).filter((text) => text !== "")
    return texts.length > 0 && texts.every((text) => LOOKS[looks].test(text))
  })
}

/** Rows that do not fit a table are shown as JSON. */
export const previewTable = (rows: ReadonlyArray<string>): Html => {
  if (!rows.every(isPlain)) {
    const room = treeRoom()
    return markup`${rows.map((row) => jsonTree(row, room))}`
  }
  const lines = rows.map(cellsOf)
  const names = [...new Set(lines.flatMap((line) => [...line.keys()]))]
  return markup`<div class="scroller" tabindex="0"><table class="list"><thead><tr>${names.map((name) => markup`<th scope="col">${cut(name)}</th>`)}</tr></thead><tbody>${lines.map((line) => markup`<tr>${names.map((name) => cell(line.get(name)))}</tr>`)}</tbody></table></div>`
}

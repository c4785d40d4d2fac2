/**
 * Rows as a workbook. A number is a number if a double carries all its digits, and text otherwise; a day is a day, a
 * time its text with its zone. Rows that exceed a sheet continue in another. A value that a cell cannot hold ends the
 * export.
 */
import { cellTokens, shownText } from "@data-cabinet/core/row/CellTokens"
import type { RowEncoder } from "@data-cabinet/core/export/ExportFormat"
import { selectionError } from "@data-cabinet/core/selection/SelectionParams"

type Cell = string | number | boolean | Date | null

/** The most characters that a cell can hold. */
const MAX_CELL_CHARS = 32_767
/** The number of digits that every double carries and a spreadsheet shows. */
const MAX_DIGITS = 15
/** The day from which on spreadsheets agree about days. */
const DAY = /^(?:19(?!00-0[12])|[2-9]\d)\d\d-\d\d-\d\d$/

/** Texts that look like an escape of the format, and characters that XML cannot represent. */
const ESCAPE = /_(?=x[0-9a-fA-F]{4}_)/g
const NO_CHARACTER = /[\ufffe\uffff]/g

const textCell = (text: string): string =>
  text
    .replace(ESCAPE, "_x005F_")
    .replace(NO_CHARACTER, (character) => `_x${character.charCodeAt(0).toString(16).toUpperCase()}_`)

const isCarried = (token: string): boolean => {
  const [digits = "", exponent = "0"] = token.split(/[eE]/)
  const significant = digits.replace(/[-+.]/g, "").replace(/^0+/, "")
  return significant.length <= MAX_DIGITS && Math.abs(Number(exponent)) + digits.length <= 300
}

const cellOf = (token: string, isDay: boolean): Cell => {
  switch (token[0]) {
    case "n":
      return null
    case "t":
    case "f":
      return token === "true"
    case '"': {
      const text = shownText(token)
      return isDay && DAY.test(text) ? new Date(`${text}T00:00:00Z`) : textCell(text)
    }
    case "{":
    case "[":
      return textCell(token)
    default:
      return isCarried(token) ? Number(token) : token
  }
}

export const encodeXlsx = (title: string): RowEncoder =>
  async function* ({ columns, batches }) {
    // Loaded only for exports of workbooks.
    const { writeXlsxStream } = await import("hucre/xlsx")
    const days = columns.map(({ type }) => type === "date")
    const rows = async function* () {
      let number = 0
      yield columns.map(({ name }): Cell => textCell(name))
      for await (const items of batches) {
        for (const item of items.texts()) {
          number++
          yield cellTokens(item).map((token, index) => {
            const cell = cellOf(token, days[index] ?? false)
            if (typeof cell !== "string" || cell.length <= MAX_CELL_CHARS) return cell
            throw selectionError(
              "bad_columns",
              "col",
              `Row ${number} has ${cell.length} characters in column ${JSON.stringify(columns[index]?.name)}, and a cell of a workbook takes ${MAX_CELL_CHARS}: leave the column out, or export another form.`,
            )
          })
        }
      }
    }
    yield* writeXlsxStream(rows(), { name: sheetName(title), freezePane: { rows: 1 } })
  }

/** Drops characters that spreadsheets refuse in a sheet's name. */
const sheetName = (title: string): string => {
  const name = title
    .replaceAll(/[[\]:*?/\\]/g, "_")
    .slice(0, 31)
    .replaceAll(/^'|'$/g, "_")
  return name === "" || name.toLowerCase() === "history" ? "rows" : name
}

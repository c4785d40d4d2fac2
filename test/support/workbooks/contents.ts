/** Tables that a workbook can hold: each cell as it is written, and as it must be read. */
import type { SheetCell } from "@data-cabinet/core/file/SheetReader"

export type WrittenCell =
  | { readonly kind: "text"; readonly text: string; readonly runs?: ReadonlyArray<string>; readonly aid?: string }
  | { readonly kind: "number"; readonly token: string; readonly style?: number }
  /** `days` since the beginning of 1900, as spreadsheets count; `iso` as OpenDocument writes it. */
  | { readonly kind: "moment"; readonly days: number; readonly style: number; readonly iso: string }
  | { readonly kind: "boolean"; readonly value: boolean }
  | { readonly kind: "error"; readonly text: string }
  | { readonly kind: "formula"; readonly formula: string; readonly token: string }

export interface Cell {
  readonly written: WrittenCell
  readonly read: SheetCell
}

/** Lines count from 1; null for a cell that is not there. */
export interface Content {
  readonly name: string
  readonly rows: ReadonlyArray<{ readonly line: number; readonly cells: ReadonlyArray<Cell | null> }>
}

/** The styles that the workbooks of these contents have: see `STYLES` of the writers. */
export const [, DAY, TIME, SPAN, MOMENT, OWN_DAY, OWN_MOMENT, PERCENT, OWN_SPAN] = [0, 1, 2, 3, 4, 5, 6, 7, 8] as const

const text = (value: string, more: { runs?: ReadonlyArray<string>; aid?: string } = {}): Cell => ({
  written: { kind: "text", text: value, ...more },
  read: value,
})
const number = (token: string, read: SheetCell = Number(token), style?: number): Cell => ({
  written: { kind: "number", token, ...(style === undefined ? {} : { style }) },
  read,
})
const moment = (days: number, style: number, iso: string, read: SheetCell): Cell => ({
  written: { kind: "moment", days, style, iso },
  read,
})
const boolean = (value: boolean): Cell => ({ written: { kind: "boolean", value }, read: value })
const error = (value: string): Cell => ({ written: { kind: "error", text: value }, read: value })
const formula = (code: string, token: string): Cell => ({
  written: { kind: "formula", formula: code, token },
  read: Number(token),
})

const lines = (...rows: ReadonlyArray<ReadonlyArray<Cell | null>>): Content["rows"] =>
  rows.map((cells, n) => ({ line: n + 1, cells }))

export const CONTENTS: ReadonlyArray<Content> = [
  {
    name: "goods",
    rows: lines(
      [text("Товар"), text("Цена"), text("Код")],
      [text("Чай «Ёж & сын» <1>"), number("12.5"), text("007")],
      [text("Кофе"), number("-3"), text("40817810099910004312")],
      [text("Чай «Ёж & сын» <1>"), number("1e-7"), text(" x ")],
    ),
  },
  {
    name: "moments",
    rows: lines(
      [text("what"), text("value")],
      [text("day"), moment(45352, DAY, "2024-03-01", "2024-03-01")],
      [text("own day"), moment(36526, OWN_DAY, "2000-01-01", "2000-01-01")],
      [text("moment"), moment(45352.39600694444, OWN_MOMENT, "2024-03-01T09:30:15", "2024-03-01T09:30:15")],
      [text("moment of minutes"), moment(45352.75, MOMENT, "2024-03-01T18:00:00", "2024-03-01T18:00:00")],
      [text("time"), moment(0.375, TIME, "PT09H00M00S", "09:00:00")],
      [text("span"), moment(1.5, SPAN, "PT36H00M00S", "36:00:00")],
      [text("own span"), moment(0.0625, OWN_SPAN, "PT01H30M00S", "01:30:00")],
    ),
  },
  {
    name: "digits",
    rows: lines(
      [text("n"), text("m")],
      [number("123456789012345"), number("0.1")],
      [number("1234567890123456789", { digits: "1234567890123456789" }), number("0.125", 0.125, PERCENT)],
      [number("0.123456789012345678901", { digits: "0.123456789012345678901" }), number("1.5E+3", 1500)],
      [number("0.30000000000000004", 0.30000000000000004), number("0.10000000000000001", 0.1)],
    ),
  },
  {
    name: "sparse",
    rows: [
      { line: 2, cells: [null, text("b"), null, text("d")] },
      { line: 3, cells: [number("1")] },
      { line: 7, cells: [null, null, null, number("4"), null, text("f")] },
      { line: 1000, cells: [null, text("last")] },
    ],
  },
  {
    name: "texts",
    rows: lines(
      [text("t"), text("u")],
      [text("大阪", { aid: "オオサカ" }), text("two runs", { runs: ["two ", "runs"] })],
      [text("a\nb"), text("𝕏 é e\u0301 \u00a0.")],
      [text("'=1+1"), text("=1+1")],
      [text("_x000D_ no"), text("1.50")],
      [text("x".repeat(5000)), text("&lt; ]]> \"'")],
    ),
  },
  {
    name: "kinds",
    rows: lines(
      [text("k"), text("v")],
      [text("yes"), boolean(true)],
      [text("no"), boolean(false)],
      [text("error"), error("#N/A")],
      [text("division"), error("#DIV/0!")],
      [text("sum"), formula("1+2", "3")],
    ),
  },
]

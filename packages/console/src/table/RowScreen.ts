/** One row with every value whole: text as it is, structures as a tree, numbers to the last digit. */
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { jsonTree, type TreeRoom, treeRoom } from "../html/JsonTree.ts"
import { CELL_CHARACTERS } from "./Cells.ts"
import { cellTokens, shownText } from "@data-cabinet/core/row/CellTokens"
import { tablePath } from "./TablePath.ts"
import { boundedText } from "../html/LongText.ts"

export interface RowData {
  readonly table: ReadableTable
  readonly columns: ReadonlyArray<ReadableColumn>
  readonly row: string
}

/** A value that the table shortens is also present as text, for copying. */
const structure = (token: string, at: number, room: TreeRoom): Html =>
  markup`${token.length > CELL_CHARACTERS && markup`<span id="value-${at}" hidden>${token}</span>`}${jsonTree(token, room)}`

/** Without the frame, for the panel beside the table. */
export const rowFields = (frame: Frame, { table, columns, row }: RowData): Html => {
  const { table: words } = frame.words
  const labels = new Map(table.detail.columns.map(({ name, label }) => [name, label]))
  const tokens = cellTokens(row)
  const room = treeRoom()
  const field = ({ name, type }: ReadableColumn, at: number) => {
    const token = tokens[at] ?? "null"
    const label = labels.get(name) ?? name
    const value =
      token === "null"
        ? markup`<span class="soft">${words.null}</span>`
        : token.startsWith("{") || token.startsWith("[")
          ? structure(token, at, room)
          : boundedText(frame.words, shownText(token), type.kind === "number" ? "mono" : "", `value-${at}`)
    return markup`<dt>${label}${label !== name && markup` <small class="mono">${name}</small>`}</dt><dd>${value}</dd>`
  }
  return markup`<dl class="facts whole">${columns.map(field)}</dl>`
}

/** The event that a row of a source's table is. */
const eventLink = (frame: Frame, { table, columns, row }: RowData) => {
  const at = columns.findIndex(({ name }) => name === "_event_id")
  const id = at < 0 ? undefined : cellTokens(row)[at]
  if (table.detail.source === null || id === undefined || !/^\d+$/.test(id)) return null
  return markup`<a class="button" href="${consolePath(frame, `events/${id}`)}">${frame.words.event.title} #${id}</a>`
}

export const rowPanel = (frame: Frame, data: RowData): Html =>
  markup`<div class="head"><h2>${frame.words.table.row}</h2><span class="row">${eventLink(frame, data)}<button type="button" data-close>${frame.words.close}</button></span></div>${rowFields(frame, data)}`

export const rowScreen = (frame: Frame, data: RowData): Screen => {
  const { schema, name } = data.table.detail
  return {
    title: `${frame.words.table.row} · ${schema}.${name}`,
    section: "tables",
    main: markup`<p><a href="${tablePath(frame, schema, name)}">← ${schema}.${name}</a></p>
<div class="head"><h1>${frame.words.table.row}</h1>${eventLink(frame, data)}</div><div class="card">${rowFields(frame, data)}</div>`,
  }
}

/** The indexes that begin with a column, and a button that creates one. */
import type { ColumnIndex } from "@data-cabinet/core/row/ColumnIndexStore"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { confirmed } from "../html/Confirmation.ts"
import { actButton } from "../html/PostForm.ts"
import { type Frame, may } from "../html/Shell.ts"
import { refusalBox } from "../screen/ErrorScreen.ts"
import { badge } from "../html/Badge.ts"

interface SomeIndex {
  readonly valid: boolean
  readonly progress: number | null
}

export const indexState = (frame: Frame, { valid, progress }: SomeIndex): Html => {
  const { column: words, index } = frame.words
  if (valid) return badge("good", words.indexReady)
  if (progress === null) return badge("bad", words.indexInterrupted)
  return markup`<progress max="1" value="${progress}" aria-label="${index.building}"></progress><small>${index.part(progress)}</small>`
}

export const isBuilding = ({ progress }: SomeIndex): boolean => progress !== null

/** While it is present, the script follows it by itself and puts the result into the element `place`. */
export const lookAgain = (frame: Frame, path: string, place: string): Html =>
  markup`<p><a class="button" href="${path}" data-into="${place}" data-again>${frame.words.index.refresh}</a></p>`

/** The indexes that serve filters and sorts by the column. */
export const indexesOf = (all: ReadonlyArray<ColumnIndex>, column: string): ReadonlyArray<ColumnIndex> =>
  all.filter(({ columns }) => columns[0] === column)

/** `path`: the address that drops one; null if the visitor may not. */
export const columnIndexTable = (
  frame: Frame,
  path: string | null,
  indexes: ReadonlyArray<ColumnIndex>,
  none: string,
): HtmlValue => {
  const { column: words, event } = frame.words
  if (indexes.length === 0) return markup`<p class="soft">${none}</p>`
  const drop = ({ name, columns, progress }: ColumnIndex, at: number) =>
    path !== null &&
    progress === null &&
    confirmed(frame, {
      id: `drop-index-${at}`,
      face: words.indexDrop,
      says: frame.words.ask.columnIndex(columns.join(", ")),
      path,
      fields: markup`<input type="hidden" name="index" value="${name}">`,
      act: frame.words.ask.indexNow,
    })
  const line = (index: ColumnIndex, at: number) =>
    markup`<tr><th scope="row"><bdi>${index.columns.join(", ")}</bdi><small class="mono">${index.name}</small></th><td class="mono">${index.method}</td><td>${indexState(frame, index)}</td><td class="n">${drop(index, at)}</td></tr>`
  return markup`<table class="list stacked"><thead><tr><th scope="col">${words.index}</th><th scope="col">${words.indexMethod}</th><th scope="col">${event.state}</th><th scope="col"><span class="hide">${words.indexDrop}</span></th></tr></thead><tbody>${indexes.map(line)}</tbody></table>`
}

export interface ColumnIndexData {
  /** The column's screen. */
  readonly path: string
  readonly indexes: ReadonlyArray<ColumnIndex>
  /** This process is building one, or has failed to. */
  readonly running: boolean
  readonly refused: ManageError | null
}

/** The part that the script requests again while an index is being built. */
export const columnIndexes = (frame: Frame, { path, indexes, running, refused }: ColumnIndexData): Html => {
  const { column: words } = frame.words
  const mayChange = may(frame, "column.change")
  const building = running || indexes.some(isBuilding)
  const build = mayChange && !building && !indexes.some(({ valid }) => valid)
  return markup`${refused !== null && refusalBox(frame, refused)}${columnIndexTable(frame, mayChange ? `${path}/index/drop` : null, indexes, words.noIndex)}<p class="soft">${words.indexHint}</p>${building && lookAgain(frame, path, "column-indexes")}${build && actButton(`${path}/index`, words.indexBuild)}`
}

export const columnIndexBlock = (frame: Frame, data: ColumnIndexData): Html =>
  markup`<section class="card" aria-labelledby="index"><h2 id="index">${frame.words.column.index}</h2><div id="column-indexes">${columnIndexes(frame, data)}</div></section>`

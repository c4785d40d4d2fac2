/** The indexes that begin with a column: which there are, and one more with a press of a button. */
import type { ColumnIndex } from "@data-cabinet/core/row/ColumnIndexStore"
import { type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { type Frame, may } from "../html/Shell.ts"

/** Those that serve filters and sorts by the column. */
export const indexesOf = (all: ReadonlyArray<ColumnIndex>, column: string): ReadonlyArray<ColumnIndex> =>
  all.filter(({ columns }) => columns[0] === column)

/** `path`: the column's screen. */
export const columnIndexBlock = (frame: Frame, path: string, indexes: ReadonlyArray<ColumnIndex>): HtmlValue => {
  const { column: words } = frame.words
  const mayChange = may(frame, "column.change")
  const state = ({ valid, progress }: ColumnIndex) => {
    if (valid) return badge("good", words.indexReady)
    return progress === null ? badge("bad", words.indexInterrupted) : badge("quiet", `${Math.floor(progress * 100)} %`)
  }
  const drop = ({ name }: ColumnIndex) =>
    mayChange &&
    postForm({
      path: `${path}/index/drop`,
      body: markup`<input type="hidden" name="index" value="${name}"><button class="danger">${words.indexDrop}</button>`,
    })
  const line = (index: ColumnIndex) =>
    markup`<tr><th scope="row" class="mono">${index.name}<small>${index.columns.join(", ")}</small></th><td class="mono">${index.method}</td><td>${state(index)}</td><td class="n">${drop(index)}</td></tr>`
  const list =
    indexes.length === 0
      ? markup`<p class="soft">${words.noIndex}</p>`
      : markup`<table class="list"><thead><tr><th scope="col">${words.index}</th><th scope="col">${words.indexMethod}</th><th scope="col">${frame.words.event.state}</th><th scope="col"><span class="hide">${words.indexDrop}</span></th></tr></thead><tbody>${indexes.map(line)}</tbody></table>`
  const build = mayChange && !indexes.some(({ valid, progress }) => valid || progress !== null)
  return markup`<section class="card" aria-labelledby="index"><h2 id="index">${words.index}</h2>${list}<p class="soft">${words.indexHint}</p>${build && actButton(`${path}/index`, words.indexBuild)}</section>`
}

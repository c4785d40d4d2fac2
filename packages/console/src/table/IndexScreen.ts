/** The indexes of a table: the one that searches use, and those that filters and sorts use. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { ColumnIndex } from "@data-cabinet/core/row/ColumnIndexStore"
import type { FoundSearchIndex } from "@data-cabinet/core/row/SearchIndex"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { badge } from "../html/Badge.ts"
import { confirmed } from "../html/Confirmation.ts"
import { options } from "../html/Choice.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { type Frame, may, type Screen } from "../html/Shell.ts"
import { refusalBox } from "../screen/ErrorScreen.ts"
import { columnIndexTable, indexState, isBuilding, lookAgain } from "./ColumnIndexBlock.ts"
import { tablePath } from "./TablePath.ts"

/** Builds of this process. */
interface Builds {
  readonly running: boolean
  readonly refused: ManageError | null
}

export interface IndexData {
  readonly table: ReadableTable
  readonly search: ReadonlyArray<FoundSearchIndex>
  readonly columns: ReadonlyArray<ColumnIndex>
  readonly searchBuild: Builds
  readonly columnBuild: Builds
}

export const indexPath = (frame: Pick<Frame, "base">, schema: string, name: string): string =>
  `${tablePath(frame, schema, name)}/indexes`

const MAX_COLUMNS = 3

const searchCard = (frame: Frame, path: string, { search, searchBuild }: IndexData): Html => {
  const { index: words, column, event } = frame.words
  const mayChange = may(frame, "column.change")
  const building = searchBuild.running || search.some(isBuilding)
  const state = (one: FoundSearchIndex) =>
    one.valid && !one.complete ? badge("warn", words.incomplete) : indexState(frame, one)
  const line = (one: FoundSearchIndex) =>
    markup`<tr><th scope="row" class="mono">${one.name}</th><td>${state(one)}</td><td class="n">${words.megabytes(one.bytes)}</td><td class="n wide-only">${words.used(one.scans)}</td></tr>`
  const table =
    search.length === 0
      ? markup`<p class="soft">${words.noSearch}</p>`
      : markup`<table class="list stacked"><thead><tr><th scope="col">${column.index}</th><th scope="col">${event.state}</th><th scope="col" class="n">${words.size}</th><th scope="col" class="n wide-only">${words.use}</th></tr></thead><tbody>${search.map(line)}</tbody></table>`
  const build =
    !search.some(({ complete }) => complete) &&
    actButton(`${path}/search`, search.length === 0 ? column.indexBuild : words.rebuild, "main")
  const drop =
    search.length > 0 &&
    confirmed(frame, {
      id: "drop-search",
      face: column.indexDrop,
      says: frame.words.ask.searchIndex,
      path: `${path}/search/drop`,
      act: frame.words.ask.indexNow,
    })
  const acts = mayChange && !building && (build !== false || drop !== false)
  return markup`<section class="card" aria-labelledby="search"><h2 id="search">${words.search}</h2>
${searchBuild.refused !== null && refusalBox(frame, searchBuild.refused)}${table}<p class="soft">${words.searchHint}</p>${acts && markup`<div class="row wrap">${build}${drop}</div>`}</section>`
}

/** The part that the script requests again while an index is being built. */
export const indexLists = (frame: Frame, data: IndexData): Html => {
  const { index: words } = frame.words
  const { schema, name } = data.table.detail
  const path = indexPath(frame, schema, name)
  const { search, columns, searchBuild, columnBuild } = data
  const building = searchBuild.running || columnBuild.running || [...search, ...columns].some(isBuilding)
  const drop = may(frame, "column.change") ? `${path}/drop` : null
  return markup`${building && lookAgain(frame, path, "indexes")}${searchCard(frame, path, data)}
<section class="card" aria-labelledby="columns"><h2 id="columns">${words.columns}</h2>
${columnBuild.refused !== null && refusalBox(frame, columnBuild.refused)}${columnIndexTable(frame, drop, columns, words.noColumns)}<p class="soft">${words.columnsHint}</p></section>`
}

const buildForm = (frame: Frame, path: string, { table }: IndexData): HtmlValue => {
  const { index: words, column } = frame.words
  const labels = new Map(table.detail.columns.map(({ name, label }) => [name, label]))
  const names = table.columns
    .filter(({ type }) => type.operators !== null)
    .map(({ name }) => [name, labels.get(name) ?? name] as const)
  const choice = (at: number) =>
    markup`<label>${words.nth(at + 1)}<select name="column"${at === 0 && markup` required`}>${options([["", "–"], ...names], "")}</select></label>`
  const choices = Array.from({ length: MAX_COLUMNS }, (_, at) => choice(at))
  return markup`<section class="card" aria-labelledby="new"><h2 id="new">${words.newColumns}</h2>
${postForm({ path: `${path}/build`, kind: "form", body: markup`${choices}<p class="soft">${words.newHint}</p><button class="main">${column.indexBuild}</button>` })}</section>`
}

export const indexScreen = (frame: Frame, data: IndexData): Screen => {
  const { index: words } = frame.words
  const { schema, name } = data.table.detail
  const path = indexPath(frame, schema, name)
  return {
    title: `${words.title}: ${name}`,
    section: "tables",
    main: markup`<p><a href="${tablePath(frame, schema, name)}">← ${schema}.${name}</a></p>
<div class="head"><h1>${words.title}</h1></div>
<div id="indexes">${indexLists(frame, data)}</div>
${may(frame, "column.change") && buildForm(frame, path, data)}`,
  }
}

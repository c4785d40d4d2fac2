/** The list of all readable tables and views, by schema. */
import { Catalog } from "@data-cabinet/core/row/Catalog"
import type { Table } from "@data-cabinet/core/row/Table"
import { type Html, markup } from "@data-cabinet/http-node/html/Html"
import { mayRemove, SavedViews } from "@data-cabinet/core/view/SavedViews"
import { mayDo } from "@data-cabinet/core/key/Role"
import { Effect } from "effect"
import { ICONS } from "../html/Icons.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { type ListedView, viewList } from "./ViewList.ts"
import { isEstimated, tablePath } from "./TablePath.ts"

const matches = (table: Table, text: string): boolean => {
  const wanted = text.trim().toLowerCase()
  const words = [table.schema, table.name, `${table.schema}.${table.name}`, table.source?.name ?? ""]
  return words.some((word) => word.toLowerCase().includes(wanted))
}

const hasWord = ({ view: { title, schema, name } }: ListedView, text: string): boolean =>
  [title, `${schema}.${name}`].some((word) => word.toLowerCase().includes(text.trim().toLowerCase()))

interface TableListData {
  readonly tables: ReadonlyArray<Table>
  readonly views: ReadonlyArray<ListedView>
  readonly find: string
}

export const tableListScreen = (frame: Frame, { tables, views, find }: TableListData): Screen => {
  const { tables: words } = frame.words
  const found = tables.filter((table) => matches(table, find))
  const saved = views.filter((view) => hasWord(view, find))
  const schemas = [...Map.groupBy(found, ({ schema }) => schema)]
  const none =
    tables.length === 0
      ? markup`<div class="empty"><h2>${words.empty}</h2><p>${words.emptyHint} <code>cabinet schema expose SCHEMA</code></p></div>`
      : markup`<div class="empty"><p>${words.noMatch}</p></div>`
  return {
    title: words.title,
    section: "tables",
    main: markup`<div class="head"><h1>${words.title}</h1>
<form class="find" action="${consolePath(frame, "tables")}" role="search"><label class="field">${ICONS.search}<input type="search" name="find" value="${find}" aria-label="${words.find}" placeholder="${words.find}" data-find="tables" data-key="/"></label></form></div>
${found.length + saved.length === 0 ? none : markup`<div class="lists" id="tables">${viewList(frame, saved)}${schemas.map(([schema, its]) => schemaList(frame, schema, its))}</div>`}`,
  }
}

const schemaList = (frame: Frame, schema: string, tables: ReadonlyArray<Table>): Html => {
  const { tables: words } = frame.words
  return markup`<section class="card flush" aria-label="${words.schema} ${schema}">
<table class="list"><caption class="mono">${schema}</caption>
<thead><tr><th scope="col">${words.name}</th><th scope="col" class="wide-only">${words.kind}</th><th scope="col" class="wide-only">${words.source}</th><th scope="col" class="n">${words.rows}</th></tr></thead>
<tbody>${tables.map((table) => tableLine(frame, table))}</tbody></table></section>`
}

const tableLine = (frame: Frame, table: Table): Html => {
  const { tables: words } = frame.words
  const { schema, name, kind, source, comment, rows_estimate: rows } = table
  return markup`<tr><th scope="row"><a href="${tablePath(frame, schema, name)}">${name}</a>${comment !== null && markup`<small>${comment}</small>`}</th>
<td class="wide-only soft nowrap">${words.kinds[kind]}</td><td class="wide-only soft">${source?.name ?? null}</td>
<td class="n soft">${isEstimated(rows) ? frame.words.table.number(rows) : "–"}</td></tr>`
}

export const tableListScreens = Effect.gen(function* () {
  const catalog = yield* Catalog
  const views = yield* SavedViews
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/tables",
      action: "row.read",
      get: Effect.fnUntraced(function* ({ frame, pairs, actor }) {
        const all = mayDo(actor!.role, "view.read") ? yield* views.list : []
        const listed = all.map((view) => ({ view, removable: mayRemove(actor, view) }))
        const find = pairs.find(([name]) => name === "find")?.[1] ?? ""
        return { screen: tableListScreen(frame, { tables: yield* catalog.list, views: listed, find }) }
      }),
    },
  ]
  return screens
})

/** A view of the latest row by key: its settings, its statement, and then the view. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { LatestView } from "@data-cabinet/core/row/LatestViews"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import { postForm } from "../html/PostForm.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { tablePath } from "./TablePath.ts"

export interface LatestForm {
  readonly keys: ReadonlyArray<string>
  readonly by: string
  /** Its name with its schema. */
  readonly view: string
  readonly replace: boolean
}

export interface LatestData {
  readonly table: ReadableTable
  readonly form: LatestForm
  readonly shown: LatestView | null
}

const checked = (is: boolean) => is && new Html(" checked")

const shownView = (frame: Frame, path: string, { form, shown }: LatestData): HtmlValue => {
  const { latest: words } = frame.words
  if (shown === null) return null
  const hidden = (name: string, value: string) => markup`<input type="hidden" name="${name}" value="${value}">`
  const body = markup`${form.keys.map((key) => hidden("key", key))}${hidden("by", form.by)}${hidden("view", form.view)}${form.replace && hidden("replace", "on")}<button class="main">${words.create}</button>`
  return markup`<pre class="text">\n${shown.sql}</pre>${postForm({ path, body })}`
}

export const latestScreen = (frame: Frame, data: LatestData): Screen => {
  const { latest: words } = frame.words
  const { table, form } = data
  const { schema, name } = table.detail
  const path = `${tablePath(frame, schema, name)}/latest`
  const ordered = table.columns.filter(({ type }) => type.operators !== null).map((column) => column.name)
  const key = (column: string) =>
    markup`<label class="choice"><input type="checkbox" name="key" value="${column}"${checked(form.keys.includes(column))}> <bdi>${column}</bdi></label>`
  const by = options(
    ordered.map((column) => [column, column] as const),
    form.by,
  )
  return {
    title: `${words.title}: ${name}`,
    section: "tables",
    main: markup`<p><a href="${tablePath(frame, schema, name)}">← ${schema}.${name}</a></p>
<div class="head"><h1>${words.title}</h1></div>
<section class="card" aria-label="${words.title}"><p class="soft">${words.hint}</p>
<form method="get" action="${path}" class="form"><fieldset class="scroll"><legend>${words.key}</legend>${ordered.map(key)}</fieldset>
<label>${words.by}<select name="by">${by}</select></label>
<label>${words.view}<input name="view" required maxlength="127" class="mono" value="${form.view}" autocomplete="off"></label>
<label class="choice"><input type="checkbox" name="replace" value="on"${checked(form.replace)}> ${words.replace}</label><button>${words.show}</button></form>
${shownView(frame, path, data)}</section>`,
  }
}

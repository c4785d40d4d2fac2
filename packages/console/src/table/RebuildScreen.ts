/**
 * The rebuild of a source's table: the progress of the latest one, and the form of the next one, which first shows
 * what would change.
 */
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { RebuildState } from "@data-cabinet/core/row/RebuildState"
import type { RebuildPreview, RebuildWishes } from "@data-cabinet/core/row/RebuildStore"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options } from "../html/Choice.ts"
import { confirmed } from "../html/Confirmation.ts"
import type { Frame, Screen } from "../html/Shell.ts"
import { refusalBox } from "../screen/ErrorScreen.ts"
import { tablePath } from "./TablePath.ts"
import { lookAgain } from "./ColumnIndexBlock.ts"
import type { ManageCode } from "@data-cabinet/http-node/manage/ManageCode"
import { MANAGE_CODES } from "@data-cabinet/http-node/manage/ManageRefusals"

export interface RebuildData {
  readonly table: ReadableTable
  /** The field columns of the table. */
  readonly columns: ReadonlyArray<string>
  readonly latest: RebuildState | null
  readonly wishes: RebuildWishes
  readonly preview: RebuildPreview | null
}

export const rebuildPath = (frame: Pick<Frame, "base">, schema: string, name: string): string =>
  `${tablePath(frame, schema, name)}/rebuild`

/** The form has room for at least this many changed columns. */
const MIN_LINES = 3

const isCode = (code: string | null): code is ManageCode => code !== null && code in MANAGE_CODES

const running = (frame: Frame, path: string, { step, done, rows }: RebuildState): Html => {
  const { rebuild: words } = frame.words
  const part = rows === 0 ? null : Math.min(1, done / rows)
  return markup`<p><progress max="1"${part !== null && markup` value="${part}"`} aria-label="${words.running}"></progress> ${words.steps[step]}${rows > 0 && markup` <small>${words.progress(done, rows)}</small>`}</p>
<div class="row wrap">${lookAgain(frame, path, "rebuild")}${confirmed(frame, { id: "cancel-rebuild", face: words.cancel, says: words.cancelSays, path: `${path}/cancel`, act: words.cancelNow })}</div>`
}

const ended = (frame: Frame, { state, code, message, result }: RebuildState): HtmlValue => {
  const { rebuild: words } = frame.words
  if (state === "cancelled") return markup`<p>${words.cancelled}</p>`
  if (result === null) return isCode(code) && refusalBox(frame, { code, message: message ?? "" })
  const { rows, columns, lockedMillis, indexesMissing } = result
  return markup`<p>${words.done(rows, columns.length, lockedMillis)}</p>${indexesMissing.length > 0 && markup`<p>${words.missing(indexesMissing.join("; "))}</p>`}`
}

const stateCard = (frame: Frame, path: string, { latest }: RebuildData): HtmlValue => {
  const { rebuild: words } = frame.words
  if (latest === null) return null
  const isRunning = latest.state === "running"
  return markup`<section class="card" aria-labelledby="latest"><h2 id="latest">${isRunning ? words.running : words.latest}</h2>
${isRunning ? running(frame, path, latest) : ended(frame, latest)}</section>`
}

const checked = (is: boolean) => is && new Html(" checked")

const form = (frame: Frame, path: string, { columns, wishes, preview }: RebuildData): Html => {
  const { rebuild: words } = frame.words
  const lines = Array.from(
    { length: Math.max(MIN_LINES, wishes.columns.length + (preview === null ? 0 : 1)) },
    (_, at) => {
      const wish = wishes.columns[at]
      const names = options([["", "–"], ...columns.map((name) => [name, name] as const)], wish?.column ?? "")
      const kinds = options([["", words.same], ...COLUMN_KINDS.map((kind) => [kind, kind] as const)], wish?.type ?? "")
      return markup`<fieldset class="row wrap"><legend>${words.nth(at + 1)}</legend><label>${frame.words.column.title}<select name="column">${names}</select></label><label>${frame.words.column.newType}<select name="type">${kinds}</select></label><label>${words.newName}<input name="name" maxlength="63" class="mono" value="${wish?.name ?? ""}" autocomplete="off"></label></fieldset>`
    },
  )
  return markup`<form method="get" action="${path}" class="form">${lines}<p class="soft">${words.nthHint}</p>
<label class="choice"><input type="checkbox" name="without_empty" value="on"${checked(wishes.withoutEmpty)}> ${words.withoutEmpty}</label>
<label class="choice"><input type="checkbox" name="nest_brackets" value="on"${checked(wishes.nestBrackets)}> ${words.nestBrackets}</label>
<p class="soft">${frame.words.column.tryHint}</p><input type="hidden" name="show" value="1"><button>${words.try}</button></form>`
}

const listed = (says: (names: string) => string, names: ReadonlyArray<string>): HtmlValue =>
  names.length > 0 && markup`<p>${says(names.join(", "))}</p>`

const shownPreview = (frame: Frame, path: string, { wishes, preview }: RebuildData): HtmlValue => {
  const { rebuild: words, column } = frame.words
  if (preview === null) return null
  const changed = preview.columns.filter(({ name, was, type, typeWas }) => name !== was || type !== typeWas)
  const line = ({ name, was, type, typeWas }: RebuildPreview["columns"][number]) =>
    markup`<tr><th scope="row" class="mono"><bdi>${was}</bdi>${name !== was && markup` → <bdi>${name}</bdi>`}</th><td class="mono">${typeWas}${type !== typeWas && ` → ${type}`}</td></tr>`
  const hidden = (name: string, value: string) => markup`<input type="hidden" name="${name}" value="${value}">`
  const fields = markup`${wishes.columns.map((wish) => markup`${hidden("column", wish.column)}${hidden("type", wish.type ?? "")}${hidden("name", wish.name ?? "")}`)}${wishes.withoutEmpty && hidden("without_empty", "on")}${wishes.nestBrackets && hidden("nest_brackets", "on")}`
  return markup`<h3>${words.preview}</h3><p><b>${words.rows(preview.rows)}</b></p>
${changed.length === 0 ? markup`<p>${words.sameColumns}</p>` : markup`<table class="list"><thead><tr><th scope="col">${column.title}</th><th scope="col">${column.type}</th></tr></thead><tbody>${changed.map(line)}</tbody></table>`}
${listed(words.dropped, preview.dropped)}${preview.rowsWithoutEvent > 0 && markup`<p>${words.withoutEvent(preview.rowsWithoutEvent)}</p>`}
${listed(words.views, preview.views)}${listed(words.indexes, preview.indexes)}${listed(words.indexesLater, preview.indexesLater)}
${
  preview.inTheWay.length > 0
    ? markup`<p><b>${words.inTheWay}</b></p><ul lang="en">${preview.inTheWay.map((one) => markup`<li>${one}</li>`)}</ul>`
    : confirmed(frame, {
        id: "start-rebuild",
        face: words.title,
        says: words.says(preview.table, preview.rows, changed.length + preview.dropped.length),
        path: `${path}/start`,
        fields,
        act: words.startNow,
      })
}`
}

/** The part that the script requests again while the table is being rebuilt. */
export const rebuildPart = (frame: Frame, data: RebuildData): Html => {
  const { rebuild: words } = frame.words
  const path = rebuildPath(frame, data.table.detail.schema, data.table.detail.name)
  const next =
    data.latest?.state !== "running" &&
    markup`<section class="card" aria-labelledby="next"><h2 id="next">${words.next}</h2><p class="soft">${words.hint}</p>
${form(frame, path, data)}
${shownPreview(frame, path, data)}</section>`
  return markup`${stateCard(frame, path, data)}${next}`
}

export const rebuildScreen = (frame: Frame, data: RebuildData): Screen => {
  const { rebuild: words } = frame.words
  const { schema, name } = data.table.detail
  return {
    title: `${words.title}: ${name}`,
    section: "tables",
    main: markup`<p><a href="${tablePath(frame, schema, name)}">← ${schema}.${name}</a></p>
<div class="head"><h1>${words.title}</h1></div>
<div id="rebuild">${rebuildPart(frame, data)}</div>`,
  }
}

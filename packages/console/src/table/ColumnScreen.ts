/**
 * One column of a source's table: its facts, its label, and its type, which changes only after a preview of the
 * effects.
 */
import { COLUMN_KINDS, type ColumnKind } from "@data-cabinet/core/row/FieldColumn"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { Notation } from "@data-cabinet/core/row/Notation"
import type { RetypeTrial, SourceColumn } from "@data-cabinet/core/row/SourceColumns"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { options, notationChoice } from "../html/Choice.ts"
import { momentsIn } from "../html/Moment.ts"
import { actButton, postForm } from "../html/PostForm.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { columnIndexBlock, type ColumnIndexData } from "./ColumnIndexBlock.ts"
import { tablePath } from "./TablePath.ts"

export interface ColumnData {
  readonly table: ReadableTable
  readonly column: SourceColumn
  readonly timeZone: string
  readonly indexes: ColumnIndexData
  /** The proposed type, and what the change would do; null without a proposal. */
  readonly proposal: {
    readonly type: ColumnKind
    readonly notation: Notation
    readonly trial: RetypeTrial
  } | null
}

/** Where a column's screen is. */
export const columnPath = (frame: Frame, schema: string, name: string, column: string): string =>
  `${tablePath(frame, schema, name)}/columns/${encodeURIComponent(column)}`

/** The database's names of kinds that differ from the kind's own. */
const DATABASE_NAMES: Partial<Record<ColumnKind, string>> = { timestamptz: "timestamp with time zone" }

/** The type that somebody gave the column by hand in SQL; null if it has its original one. */
const handMade = ({ table, column }: ColumnData): string | null => {
  const there = table.detail.columns.find(({ name }) => name === column.name)
  const declared = table.columns.find(({ name }) => name === column.name)?.declared ?? null
  if (there === undefined) return null
  if (declared !== null) return `${there.type}(${declared.precision},${declared.scale})`
  return there.type === (DATABASE_NAMES[column.type] ?? column.type) ? null : there.type
}

const consequences = (frame: Frame, { misfits, examples, sibling, views }: RetypeTrial): Html => {
  const { column: words, event } = frame.words
  const line = ({ eventId, value }: RetypeTrial["examples"][number]) =>
    markup`<tr><th scope="row"><a href="${consolePath(frame, `events/${eventId}`)}">#${eventId}</a></th><td class="mono"><bdi>${value}</bdi></td></tr>`
  const said =
    misfits === 0
      ? words.allFit
      : misfits === null
        ? words.uncounted(sibling ?? "")
        : words.misfits(misfits, sibling ?? "")
  return markup`<p><b>${said}</b></p>
${examples.length > 0 && markup`<div class="card flush"><table class="list"><caption>${words.examples}</caption><thead><tr><th scope="col">${event.title}</th><th scope="col">${frame.words.table.value}</th></tr></thead><tbody>${examples.map(line)}</tbody></table></div>`}
${views.length > 0 && markup`<p>${words.recreated(views.join(", "))}</p>`}`
}

const trialResult = (frame: Frame, path: string, { column, proposal }: ColumnData): HtmlValue => {
  const { column: words } = frame.words
  if (proposal === null) return null
  if (proposal.type === column.type) return markup`<p><b>${words.typed}</b></p>`
  return markup`${consequences(frame, proposal.trial)}
<p class="soft">${words.locks}</p>
${postForm({ path: `${path}/retype`, body: markup`<input type="hidden" name="type" value="${proposal.type}">${Object.entries(proposal.notation).map(([name, value]) => value !== undefined && markup`<input type="hidden" name="${name}" value="${value}">`)}<button class="main">${words.change(proposal.type)}</button>` })}`
}

const changes = (frame: Frame, path: string, data: ColumnData): HtmlValue => {
  const { column: words } = frame.words
  const { column, proposal } = data
  if (!may(frame, "column.change")) return null
  const kinds = options(
    COLUMN_KINDS.map((kind) => [kind, kind] as const),
    proposal?.type ?? column.type,
  )
  const label = markup`<label>${words.label}<input name="label" required maxlength="1000" value="${column.label}" autocomplete="off"></label><p class="soft">${words.labelHint}</p><button class="main">${frame.words.save}</button>`
  return markup`<section class="card" aria-labelledby="label"><h2 id="label">${words.label}</h2>
${postForm({ path: `${path}/label`, kind: "form", body: label })}</section>
<section class="card" aria-labelledby="type"><h2 id="type">${words.type}</h2>
<form method="get" action="${path}" class="form"><label>${words.newType}<select name="type">${kinds}</select></label>${column.type === "text" && notationChoice(frame, proposal?.notation ?? {})}<p class="soft">${words.tryHint}</p><button>${words.try}</button></form>
${trialResult(frame, path, data)}</section>
<details class="card"><summary>${words.drop}</summary><p class="soft">${words.dropHint}</p>${actButton(`${path}/drop`, words.dropNow(column.name), "danger")}</details>`
}

export const columnScreen = (frame: Frame, data: ColumnData): Screen => {
  const { column: words } = frame.words
  const { table, column, timeZone } = data
  const { schema, name } = table.detail
  const path = columnPath(frame, schema, name, column.name)
  const changed = handMade(data)
  const since =
    column.eventId !== null &&
    markup`<dt>${frame.words.event.title}</dt><dd><a href="${consolePath(frame, `events/${column.eventId}`)}">#${column.eventId}</a></dd>`
  return {
    title: `${name}.${column.name}`,
    section: "tables",
    main: markup`<p><a href="${tablePath(frame, schema, name)}">← ${schema}.${name}</a></p>
<div class="head"><h1>${words.title} <bdi class="mono">${column.name}</bdi></h1></div>
<section class="card" aria-label="${words.title}"><dl class="facts"><dt>${words.field}</dt><dd><bdi>${column.field}</bdi></dd><dt>${words.label}</dt><dd><bdi>${column.label}</bdi></dd><dt>${words.type}</dt><dd class="mono">${column.type}</dd>${changed !== null && markup`<dt>${words.inDatabase}</dt><dd><span class="mono">${changed}</span><br>${words.handMade}</dd>`}<dt>${words.since}</dt><dd>${momentsIn(timeZone)(column.createdAt)}</dd>${since}</dl></section>
${columnIndexBlock(frame, data.indexes)}
${changes(frame, path, data)}`,
  }
}

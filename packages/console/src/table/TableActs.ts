/** The menus above a table: jumping to a value, erasing on request, copying the selection as a call, and exporting it. */
import { EXPORT_FORMATS } from "@data-cabinet/core/export/ExportFormat"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { ICONS } from "../html/Icons.ts"
import { copyField, menu } from "../html/Menu.ts"
import { type Frame, may } from "../html/Shell.ts"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { filtersOf, firstPage, sortsOf, valueOf, withFilters, withQuery } from "../screen/SelectionLinks.ts"
import { apiAddress, commandLine, curlCall } from "./CopyTexts.ts"
import { LABELLED_FORMATS, LABELS, UNCHANGED } from "./ExportRows.ts"
import { tablePath } from "./TablePath.ts"
import type { TableData } from "./TableScreen.ts"

/** Jumps to a value of the only sort column; empty without one. */
export const jumpMenu = (frame: Frame, { table, pairs }: TableData): HtmlValue => {
  const { table: words } = frame.words
  const { schema, name, key, columns } = table.detail
  const sorts = sortsOf(pairs)
  const column = sorts[0]?.column ?? (key.length === 1 ? key[0] : undefined)
  if (column === undefined || sorts.length > 1 || table.identity === "text") return null
  const label = columns.find((one) => one.name === column)?.label ?? column
  const hidden = firstPage(pairs).map(([key_, value]) => markup`<input type="hidden" name="${key_}" value="${value}">`)
  return menu({
    id: "jump",
    face: markup`${ICONS.jump}<span>${words.jump}</span>`,
    body: markup`<form method="get" action="${tablePath(frame, schema, name)}/jump">${hidden}<label>${words.jumpTo(label)}<input name="value" required autocomplete="off"></label><button class="main">${words.jumpNow}</button></form>`,
  })
}

/**
 * The conditions of an erasure on request, if nothing else narrows the rows of a source: an erasure has no search,
 * period or alternatives.
 */
export const eraseLink = (frame: Frame, { table, pairs, refused }: TableData): HtmlValue => {
  const { schema, name, source } = table.detail
  const filters = filtersOf(pairs)
  const isNarrowed = filters.length > 0 && ["q", "per"].every((one) => valueOf(pairs, one) === undefined)
  if (source === null || refused !== null || !isNarrowed || !may(frame, "event.purge")) return null
  if (filters.some(({ or }) => or === true)) return null
  const href = withQuery(`${tablePath(frame, schema, name)}/erase`, withFilters([], filters))
  return markup`<a class="button" href="${href}">${ICONS.trash}<span>${frame.words.erasure.tab}</span></a>`
}

export const copyMenu = (frame: Frame, { table, pairs, sql }: TableData): Html => {
  const { table: words } = frame.words
  const { schema, name } = table.detail
  const address = apiAddress(frame.baseUrl, schema, name, pairs)
  const command = commandLine(schema, name, pairs)
  return menu({
    id: "copy",
    face: markup`${ICONS.copy}<span>${words.copy}</span>`,
    body: [
      copyField("copy-address", words.copyAddress, address, words.copy),
      copyField("copy-curl", "curl", curlCall(address), words.copy),
      command !== null && copyField("copy-command", "cabinet", command, words.copy),
      sql !== null && copyField("copy-sql", "SQL", sql, words.copy),
    ],
  })
}

export const exportMenu = (frame: Frame, { table, pairs }: TableData): Html => {
  const { table: words } = frame.words
  const path = tablePath(frame, table.detail.schema, table.detail.name)
  const link = (format: string, text: string = format.toUpperCase(), more: Pairs = []) =>
    markup`<a class="button" href="${withQuery(`${path}/export.${format}`, [...firstPage(pairs), ...more])}" download>${text}</a>`
  const isLabelled = table.detail.columns.some(({ name, label }) => name !== label)
  const labelled = LABELLED_FORMATS.map((format) => link(format, format.toUpperCase(), [[LABELS, "1"]]))
  const unchanged = link("csv", words.exportUnchanged, [[UNCHANGED, "1"]])
  return menu({
    id: "export",
    face: markup`${ICONS.export}<span>${words.exportAs}</span>`,
    body: markup`<div class="row wrap">${EXPORT_FORMATS.map((format) => link(format))}</div>${isLabelled && markup`<p>${words.exportLabelled}</p><div class="row wrap">${labelled}</div>`}<p class="soft">${words.exportHint}</p><p class="soft">${words.exportSafeHint}</p><div class="row">${unchanged}</div>`,
  })
}

/** Files into a source: the form, the outcome for a file just sent, and all imports so far. */
import type { ImportReport } from "@data-cabinet/core/file/Import"
import type { ImportStatus } from "@data-cabinet/core/file/ImportStore"
import type { Source } from "@data-cabinet/core/source/Source"
import { Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { failureText } from "../html/FailureText.ts"
import { options, notationChoice } from "../html/Choice.ts"
import { momentsIn } from "../html/Moment.ts"
import { consolePath, type Frame, may, type Screen } from "../html/Shell.ts"
import { reportBox } from "./ReportBox.ts"
import { importBadge } from "./ImportScreen.ts"
import { fileTabs } from "../html/Tabs.ts"

export interface FileData {
  readonly imports: ReadonlyArray<ImportStatus>
  readonly sources: ReadonlyArray<Source>
  readonly timeZone: string
  /** The outcome for this request's file. */
  readonly report: ImportReport | null
}

const form = (frame: Frame, { sources, report }: FileData): HtmlValue => {
  const { file: words, event } = frame.words
  const on = sources.filter(({ archived }) => !archived)
  if (!may(frame, "source.change") || on.length === 0) return null
  return markup`<form class="card" method="post" action="${consolePath(frame, "files")}" enctype="multipart/form-data" data-upload="report" data-failed="${words.interrupted}">
<div class="row wrap ends"><label class="grow">${words.choose}<input type="file" name="file" required></label><label>${event.source}<select name="source_id">${options(
    on.map(({ id, name }) => [String(id), name] as const),
    String(report?.sourceId ?? on[0]!.id),
  )}</select></label><button name="dry_run" value="true">${words.tryFirst}</button><button class="main" name="dry_run" value="false">${words.importNow}</button></div>
<details${report?.state === "unclear" && new Html(" open")}><summary>${words.more}</summary>${csvChoice(frame)}${notationChoice(frame, {})}<p class="soft">${words.notationHint}</p><label class="choice"><input type="checkbox" name="skip_refused" value="true"> ${words.skipRefused}</label><label class="choice"><input type="checkbox" name="again" value="true"> ${words.again}</label></details>
<p class="soft">${words.hint}</p><div class="row"><progress class="hide" max="1" value="0" aria-label="${words.sending}"></progress><button type="button" data-stop hidden>${frame.words.cancel}</button></div></form>`
}

const importTable = (frame: Frame, { imports, sources, timeZone }: FileData): Html => {
  const { file: words, event } = frame.words
  const moment = momentsIn(timeZone)
  const nameOf = (id: number) => sources.find((source) => source.id === id)?.name ?? String(id)
  const line = (one: ImportStatus) =>
    markup`<tr><th scope="row"><a href="${consolePath(frame, `files/${one.id}`)}">${one.name}</a><small>${event.channels[one.channel] ?? one.channel}</small></th><td><a href="${consolePath(frame, `sources/${one.sourceId}`)}">${nameOf(one.sourceId)}</a></td><td class="wide-only">${moment(one.createdAt)}</td>
<td>${importBadge(frame, one)}${failureText(frame, one.failure)}</td><td class="n">${words.progress(one.accepted, one.staged)}${one.refused > 0 && markup`<small>${words.refused(one.refused)}</small>`}</td></tr>`
  return markup`<div class="card flush"><table class="list stacked"><thead><tr><th scope="col">${words.name}</th><th scope="col">${event.source}</th><th scope="col" class="wide-only">${words.begun}</th><th scope="col">${event.state}</th><th scope="col" class="n">${words.rows}</th></tr></thead><tbody>${imports.map(line)}</tbody></table></div>`
}

export const fileScreen = (frame: Frame, data: FileData): Screen => {
  const { file: words } = frame.words
  return {
    title: words.files,
    section: "files",
    main: markup`<div class="head"><h1>${words.files}</h1></div>${fileTabs(frame, "files")}${form(frame, data)}<div id="report">${data.report === null ? data.imports.length === 0 && markup`<div class="empty"><h2>${words.none}</h2><p>${words.noneHint}</p></div>` : reportBox(frame, data.report)}</div>
${data.imports.length > 0 && importTable(frame, data)}`,
  }
}

const DELIMITERS = [",", ";", "tab", "|", "none"]

/** Where a file's table is and how it is separated: `delimiter`, `header_row` and `sheet`, which may each be left open. */
const csvChoice = (frame: Frame): Html => {
  const { file: words } = frame.words
  const named = DELIMITERS.map((one) => [one, words.delimiters[one] ?? one] as const)
  return markup`<div class="row wrap ends"><label>${words.delimiter}<select name="delimiter">${options([["", words.detected], ...named], "")}</select></label><label>${words.headerRow}<input name="header_row" type="number" min="1" placeholder="${words.detected}"></label><label>${words.sheet}<input name="sheet" maxlength="200" placeholder="${words.firstSheet}" autocomplete="off"></label></div>`
}

/** The chosen options; an empty choice is left out. */
export const csvChoiceIn = (value: (name: string) => string | undefined) => ({
  delimiter: value("delimiter") || undefined,
  headerRow: value("header_row") ? Number(value("header_row")) : undefined,
  sheet: value("sheet") || undefined,
})

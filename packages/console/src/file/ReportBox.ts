/** What became of a file that was sent: how it was read, its first rows, and what deserves a look. */
import type { ImportReport } from "@data-cabinet/core/file/Import"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import { doubtTable } from "./Doubts.ts"
import { failureText } from "../html/FailureText.ts"
import { badge, type Tone } from "../html/Badge.ts"
import { consolePath, type Frame } from "../html/Shell.ts"
import { localFields, previewTable } from "./PreviewTable.ts"

const TONES: Readonly<Record<ImportReport["state"], Tone>> = {
  done: "good",
  accepting: "warn",
  refused: "bad",
  dry_run: "quiet",
  unclear: "warn",
  failed: "bad",
}

/** Which fields are written in the notation that was chosen, and the first values that are not. */
const readFields = (frame: Frame, { readAs, misfits }: ImportReport): HtmlValue => {
  const { file: words } = frame.words
  if (readAs.length === 0) return null
  const fields = readAs.map(
    ({ field, as, fits, misfits: others }) =>
      markup`<tr><th scope="row"><bdi>${field}</bdi></th><td>${words.readAs[as]}</td><td>${words.fits(fits, fits + others)}</td></tr>`,
  )
  const values = misfits.map(
    ({ line, field, value }) =>
      markup`<tr><th scope="row" class="nowrap">${words.line(line, null)}</th><td><bdi>${field}</bdi></td><td class="mono"><bdi>${value}</bdi></td></tr>`,
  )
  return markup`<table class="list">${fields}</table>${values.length > 0 && markup`<p>${words.stayText}</p><table class="list">${values}</table>`}`
}

/** How each fitting delimiter reads the file, so that the person can choose. */
const readingsOf = (frame: Frame, { readings }: ImportReport): HtmlValue => {
  const { file: words } = frame.words
  if (readings.length === 0) return null
  return markup`<p>${words.delimiterAsked}</p>${readings.map(
    ({ delimiter, preview }) =>
      markup`<details open><summary>${words.delimiters[delimiter === "\t" ? "tab" : delimiter === "" ? "none" : delimiter] ?? delimiter}</summary>${previewTable(preview)}</details>`,
  )}`
}

/** Fields that become text, although they would be numbers or days once the notation is chosen above. */
const unreadFields = (frame: Frame, { preview, readAs }: ImportReport): HtmlValue => {
  const { file: words } = frame.words
  const read = new Set(readAs.map(({ field }) => field))
  return (["numbers", "days"] as const).map((looks) => {
    const fields = localFields(preview, looks).filter((field) => !read.has(field))
    return (
      fields.length > 0 && markup`<div class="box warn"><p><b>${fields.join(", ")}</b>: ${words.local[looks]}</p></div>`
    )
  })
}

/** A refused file shows its first errors; the rest is counted. */
export const reportBox = (frame: Frame, report: ImportReport): Html => {
  const { file: words } = frame.words
  const said = words.reports[report.state](report.rows, report.refused)
  const places = report.refusals.map(
    ({ line, column, reason }) =>
      markup`<tr><th scope="row" class="nowrap">${words.line(line, column)}</th><td lang="en">${reason}</td></tr>`,
  )
  const facts = [
    report.format,
    report.encoding,
    report.delimiter === "\t" ? "TAB" : report.delimiter,
    report.headerRow === null ? null : words.headerAt(report.headerRow),
    report.sheet,
  ]
  return markup`<section class="card" role="status" aria-labelledby="report-title"><h2 id="report-title">${report.file} ${badge(TONES[report.state], words.states[report.state])}</h2><p>${said}${report.importId !== null && markup` <a href="${consolePath(frame, `files/${report.importId}`)}">${words.theImport}</a> · <a href="${consolePath(frame, `sources/${report.sourceId}`)}">${words.itsSource}</a>`}</p>
<p class="soft">${facts.filter((fact) => fact !== null).join(" · ")}${report.replaced > 0 && ` · ${words.replaced(report.replaced)}`}</p>${report.failure !== null && markup`<p>${failureText(frame, report.failure)}</p>`}
${report.importedBefore !== null && markup`<p>${words.before} ${report.importedBefore.createdAt}</p>`}
${unreadFields(frame, report)}${readingsOf(frame, report)}${doubtTable(frame, report.doubts)}${readFields(frame, report)}${places.length > 0 && markup`<table class="list">${places}</table>`}${report.preview.length > 0 && markup`<details open><summary>${words.preview}</summary>${previewTable(report.preview)}</details>`}</section>`
}

/**
 * One import: its progress, and how to cancel or undo it. The effect of an undo is counted only on request, because
 * counting reads the whole table; the button for the undo is below the count.
 */
import type { ImportStatus, KeptColumn } from "@data-cabinet/core/file/ImportStore"
import type { UndoPreview } from "@data-cabinet/core/file/Imports"
import type { Source } from "@data-cabinet/core/source/Source"
import { type Html, type HtmlValue, markup } from "@data-cabinet/http-node/html/Html"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { failureText } from "../html/FailureText.ts"
import { confirmed } from "../html/Confirmation.ts"
import { momentsIn } from "../html/Moment.ts"
import { actButton } from "../html/PostForm.ts"
import { consolePath, type Frame, type Screen } from "../html/Shell.ts"
import { refusalBox } from "../screen/ErrorScreen.ts"
import { doubtTable } from "./Doubts.ts"
import { badge, type Tone } from "../html/Badge.ts"
import { isolated } from "../words/IsolatedWords.ts"

const TONES: Readonly<Record<ImportStatus["state"], Tone>> = {
  staging: "warn",
  accepting: "warn",
  done: "good",
  failed: "bad",
}

/** The state of an import: that of its undo, if one was begun, or that it was cancelled. */
export const importBadge = ({ words: { file: words } }: Frame, { state, undo, cancelledAt }: ImportStatus): Html => {
  if (undo !== null) return badge("warn", words.undoStates[undo.state])
  return cancelledAt === null ? badge(TONES[state], words.importStates[state]) : badge("warn", words.cancelled)
}

export interface ImportData {
  readonly status: ImportStatus
  readonly source: Source | null
  readonly timeZone: string
  /** Whether it can be cancelled, or marked as cancelled after it has failed. */
  readonly isCancellable: boolean
  /** Whether an undo can be requested. */
  readonly isUndoable: boolean
  /** The effect of an undo, or why none is possible; null if it was not requested. */
  readonly undo: UndoPreview | ManageError | null
}

const keptColumns = ({ words: { file: words } }: Frame, kept: ReadonlyArray<KeptColumn>): HtmlValue =>
  kept.length > 0 &&
  markup`<p>${words.keeps}</p><table class="list">${kept.map(
    ({ column, reason }) => markup`<tr><th scope="row">${column}</th><td lang="en">${reason}</td></tr>`,
  )}</table>`

const offer = (frame: Frame, path: string, preview: UndoPreview): Html => {
  const { file: words } = frame.words
  return markup`<section class="card" aria-labelledby="undo"><h2 id="undo">${words.undo}</h2><p>${words.wouldUndo(preview.events, preview.rows)}${preview.inTrash > 0 && ` ${words.inTrash(preview.inTrash)}`}</p>
${preview.columns.length > 0 && markup`<p>${words.wouldDrop(preview.columns.join(", "))}</p>`}${keptColumns(frame, preview.kept)}
${preview.deliveries > 0 && markup`<p>${words.wereDelivered(preview.deliveries)}</p>`}<p class="soft">${words.undoHint}</p>${actButton(`${path}/undo`, words.undoNow, "danger")}</section>`
}

const undone = (frame: Frame, { undo }: ImportStatus): HtmlValue => {
  const { file: words } = frame.words
  if (undo === null) return null
  return markup`<section class="card" role="status"><p>${words.wereTrashed(undo.events)}</p>
${undo.columns.length > 0 && markup`<p>${words.wereDropped(undo.columns.join(", "))}</p>`}${keptColumns(frame, undo.kept)}</section>`
}

const cancelling = (frame: Frame, path: string, { state }: ImportStatus): Html => {
  const { file: words } = frame.words
  return state === "failed"
    ? actButton(`${path}/cancel`, words.dismiss)
    : confirmed(frame, {
        id: "cancel",
        face: words.cancel,
        says: words.cancelHint,
        path: `${path}/cancel`,
        act: words.cancel,
      })
}

export const importScreen = (frame: Frame, data: ImportData): Screen => {
  const { status, source, timeZone, isCancellable, isUndoable, undo } = data
  const { file: words, event } = frame.words
  const moment = momentsIn(timeZone)
  const path = consolePath(frame, `files/${status.id}`)
  const asked = undo === null ? null : "importId" in undo ? offer(frame, path, undo) : refusalBox(frame, undo)
  const ask = isUndoable && markup`<p><a class="button" href="${path}?undo=1">${words.undo}</a></p>`
  return {
    title: status.name,
    section: "files",
    main: markup`<p><a href="${consolePath(frame, "files")}">← ${words.files}</a></p><div class="head"><h1>${isolated(status.name)} ${importBadge(frame, status)}</h1></div>
<section class="card"><table class="list"><tr><th scope="row">${event.source}</th><td><a href="${consolePath(frame, `sources/${status.sourceId}`)}">${source?.name ?? status.sourceId}</a></td></tr>
<tr><th scope="row">${words.begun}</th><td>${moment(status.createdAt)}</td></tr>
<tr><th scope="row">${words.rows}</th><td>${words.progress(status.accepted, status.staged)}${status.refused > 0 && ` · ${words.refused(status.refused)}`}</td></tr></table>${status.failure !== null && markup`<p>${failureText(frame, status.failure)}</p>`}</section>
${status.doubts.length > 0 && markup`<section class="card">${doubtTable(frame, status.doubts)}</section>`}
${isCancellable && cancelling(frame, path, status)}${undone(frame, status)}${asked ?? ask}`,
  }
}

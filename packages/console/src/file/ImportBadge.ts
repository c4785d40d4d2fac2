/** The state of an import: that of its undo, if one was begun, or that it was cancelled. */
import type { ImportStatus } from "@data-cabinet/core/file/ImportStore"
import type { Html } from "@data-cabinet/http-node/html/Html"
import { badge, type Tone } from "../html/Badge.ts"
import type { Frame } from "../html/Shell.ts"

const TONES: Readonly<Record<ImportStatus["state"], Tone>> = {
  staging: "warn",
  accepting: "warn",
  done: "good",
  failed: "bad",
}

export const importBadge = ({ words: { file: words } }: Frame, { state, undo, cancelledAt }: ImportStatus): Html => {
  if (undo !== null) return badge("warn", words.undoStates[undo.state])
  return cancelledAt === null ? badge(TONES[state], words.importStates[state]) : badge("warn", words.cancelled)
}

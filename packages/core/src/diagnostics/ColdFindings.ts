/** Interprets the state of the files of old events. */
import { counted } from "../text/Counted.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

/** What was found out about cold history. Times are RFC 3339. */
export interface ColdReport {
  /** Where this process has its files; null if it has no place for them. */
  readonly location: string | null
  readonly files: number
  readonly events: number
  readonly bytes: number
  /** When the last round ended. */
  readonly workedAt: string | null
  /** Whether a round is due for so long that no process seems to work on it. */
  readonly isIdle: boolean
  readonly failures: number
  readonly error: string | null
  /** Why the place does not serve; null if it does. */
  readonly unreachable: string | null
  /** Listed files that are not there. */
  readonly missing: ReadonlyArray<string>
  /** What is wrong with those of a few files that were looked into. */
  readonly damaged: ReadonlyArray<string>
  /** When the first event was received that should be in a file by now; null without one, or if the age is not known here. */
  readonly lateSince: string | null
  /** Since when an erasure waits for its file to be written again, if that takes too long. */
  readonly erasureSince: string | null
}

const PUT_BACK = "Put back copies of them; meanwhile old events are refused. `cabinet cold verify` reads every file."

/** Most names that a message has. */
const MOST_NAMED = 3

const namesOf = (names: ReadonlyArray<string>): string =>
  names.length <= MOST_NAMED ? names.join(", ") : `${names.slice(0, MOST_NAMED).join(", ")}, …`

/** What keeps old events from being read; null if nothing does. */
const unreadable = (cold: ColdReport): string | null => {
  if (cold.location === null) {
    return `${counted(cold.events, "event is", "events are")} in files, and this process has no place for them: set CABINET_COLD_STORE, as the other processes of the cabinet have it.`
  }
  if (cold.unreachable !== null) {
    return `The files of old events in ${cold.location} cannot be reached: ${cold.unreachable.replace(/\.$/, "")}.`
  }
  if (cold.missing.length > 0) {
    return `${counted(cold.missing.length, "file of old events is", "files of old events are")} missing in ${cold.location}: ${namesOf(cold.missing)}. ${PUT_BACK}`
  }
  return cold.damaged.length > 0 ? `Files of old events are damaged: ${namesOf(cold.damaged)} ${PUT_BACK}` : null
}

/** What keeps events from moving, or from being erased in files; null if nothing does. */
const delayed = (cold: ColdReport): string | null => {
  const { failures, error, lateSince, erasureSince, isIdle } = cold
  const late = [
    ...(lateSince === null ? [] : [`events of ${lateSince} should be in files by now`]),
    ...(erasureSince === null ? [] : [`the file of an event that was erased at ${erasureSince} still has it`]),
  ]
  const what = late.length === 0 ? "" : ` Meanwhile ${late.join(", and ")}.`
  if (failures > 0) {
    return `Old events could not be moved into files, ${counted(failures, "time")} in a row: ${error?.replace(/\.$/, "")}.${what} It is tried again every ten minutes.`
  }
  if (isIdle)
    return `No process moves old events into files. Start \`cabinet serve\` or \`cabinet worker\` with CABINET_COLD_STORE.${what}`
  if (late.length === 0) return null
  const hold =
    lateSince === null
      ? "A server or worker with CABINET_COLD_STORE writes it again within an hour."
      : "A follower of the cabinet that is paused or fails holds them back: `cabinet follower list`."
  return `${late.join(", and ").replace(/^./, (first) => first.toUpperCase())}. ${hold}`
}

/** A finding, for a cabinet that has such files, or a place for them. */
export const ofCold = ({ cold }: DiagnosticsReport): ReadonlyArray<Finding> => {
  if (cold === null) return []
  const bad = unreadable(cold)
  if (bad !== null) return [finding("cold history", "bad", bad)]
  const late = delayed(cold)
  if (late !== null) return [finding("cold history", "warn", late)]
  const size = `${counted(cold.events, "old event", "old events")} in ${counted(cold.files, "file")}, ${(cold.bytes / 1_000_000).toFixed(1)} MB`
  return [finding("cold history", "ok", `Old events are in files as they should be: ${size}.`)]
}

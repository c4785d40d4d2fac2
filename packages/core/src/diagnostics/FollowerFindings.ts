/** Interprets how far the work behind the feed has come. */
import { ORDERED } from "../delivery/OrderedQueue.ts"
import { CLIENT_KIND, type FollowerState, MOST_BEHIND } from "../follower/FollowerStore.ts"
import { REBUILD_KIND } from "../row/RebuildStore.ts"
import { counted } from "../text/Counted.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Doctor.ts"

/** Longer than any follower waits at the end of the feed. */
const BEHIND_SECONDS = 300

/** A client that reads once a day is not late. */
const CLIENT_BEHIND_SECONDS = 36 * 3_600

const lag = ({ behind, behindSeconds }: FollowerState): string =>
  `${behind === MOST_BEHIND ? `at least ${MOST_BEHIND} events` : counted(behind, "event", "events")} behind, the first for ${Math.round(behindSeconds)} s`

/** The remains of a rebuild whose process was lost. Any server removes them. */
const isRemains = ({ kind, holder }: FollowerState): boolean => kind === REBUILD_KIND && holder === null

const described = (follower: FollowerState): string => {
  const { kind, name, key, failures, error, retryAt } = follower
  if (isRemains(follower)) return `the rebuild of the table of source ${name} has lost its process`
  if (kind === CLIENT_KIND) return `the client ${name} of the key ${key} is ${lag(follower)}`
  const which = kind === ORDERED ? `address ${name}` : kind === name ? kind : `${kind} ${name}`
  return failures === 0
    ? `${which} is ${lag(follower)}`
    : `${which} failed ${counted(failures, "time")} in a row and is ${lag(follower)}; it is tried again at ${retryAt}: ${error?.replace(/\.$/, "")}`
}

const isLate = (follower: FollowerState): boolean => isRemains(follower) || isBehind(follower)

const isBehind = ({ kind, failures, behindSeconds, paused }: FollowerState): boolean =>
  !paused && (failures > 0 || behindSeconds > (kind === CLIENT_KIND ? CLIENT_BEHIND_SECONDS : BEHIND_SECONDS))

const remedyFor = (late: ReadonlyArray<FollowerState>): string => {
  if (late.every(isRemains))
    return `The table is as it was. A running server removes the rest, or: cabinet table rebuild ${late[0]!.name} --cancel`
  if (late.some(({ failures }) => failures > 0))
    return "Nothing is skipped: the work continues when its cause is removed."
  if (late.every(({ kind }) => kind === CLIENT_KIND)) {
    return "Nothing is skipped. Start the program, or forget one that was retired: cabinet follower remove NAME"
  }
  return "Nothing is skipped. If no server or worker runs, start one; otherwise it is catching up."
}

/** One finding for all followers. */
export const ofFollowers = ({ followers }: DiagnosticsReport): Finding => {
  const late = followers.filter(isLate)
  if (late.length === 0) return finding("followers", "ok", "The work behind the feed keeps up.")
  const message = `Work behind the feed is late: ${late.map(described).join("; ")}. ${remedyFor(late)}`
  return finding("followers", "warn", message)
}

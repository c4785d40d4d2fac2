/** Interprets how far the work behind the feed has come. */
import { CLIENT_KIND, type FollowerState, MOST_BEHIND } from "../follower/FollowerStore.ts"
import { counted } from "../text/Counted.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Finding.ts"

/** Longer than any follower rests at the end of the feed. */
const BEHIND_SECONDS = 300

/** A client that reads once a day is not late. */
const CLIENT_BEHIND_SECONDS = 36 * 3_600

const lag = ({ behind, behindSeconds }: FollowerState): string =>
  `${behind === MOST_BEHIND ? `at least ${MOST_BEHIND} events` : counted(behind, "event", "events")} behind, the first for ${Math.round(behindSeconds)} s`

const described = (follower: FollowerState): string => {
  const { kind, name, key, failures, error, retryAt } = follower
  if (kind === CLIENT_KIND) return `the client ${name} of the key ${key} is ${lag(follower)}`
  const which = kind === name ? kind : `${kind} ${name}`
  return failures === 0
    ? `${which} is ${lag(follower)}`
    : `${which} failed ${failures} times in a row and is ${lag(follower)}; it is tried again at ${retryAt}: ${error}`
}

const isLate = ({ kind, failures, behindSeconds }: FollowerState): boolean =>
  failures > 0 || behindSeconds > (kind === CLIENT_KIND ? CLIENT_BEHIND_SECONDS : BEHIND_SECONDS)

const remedyFor = (late: ReadonlyArray<FollowerState>): string => {
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

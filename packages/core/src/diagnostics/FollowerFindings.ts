/** Interprets how far the work behind the feed has come. */
import { type FollowerState, MOST_BEHIND } from "../follower/FollowerStore.ts"
import { counted } from "../text/Counted.ts"
import type { DiagnosticsReport } from "./Diagnostics.ts"
import { type Finding, finding } from "./Finding.ts"

/** Longer than any follower rests at the end of the feed. */
const BEHIND_SECONDS = 300

const lag = ({ behind, behindSeconds }: FollowerState): string =>
  `${behind === MOST_BEHIND ? `at least ${MOST_BEHIND} events` : counted(behind, "event", "events")} behind, the first for ${Math.round(behindSeconds)} s`

const described = (follower: FollowerState): string => {
  const { kind, name, failures, error, retryAt } = follower
  const which = kind === name ? kind : `${kind} ${name}`
  return failures === 0
    ? `${which} is ${lag(follower)}`
    : `${which} failed ${failures} times in a row and is ${lag(follower)}; it is tried again at ${retryAt}: ${error}`
}

/** One finding for all followers. */
export const ofFollowers = ({ followers }: DiagnosticsReport): Finding => {
  const late = followers.filter(({ failures, behindSeconds }) => failures > 0 || behindSeconds > BEHIND_SECONDS)
  if (late.length === 0) return finding("followers", "ok", "The work behind the feed keeps up.")
  const remedy = late.some(({ failures }) => failures > 0)
    ? "Nothing is skipped: the work continues when its cause is removed."
    : "Nothing is skipped. If no server or worker runs, start one; otherwise it is catching up."
  return finding("followers", "warn", `Work behind the feed is late: ${late.map(described).join("; ")}. ${remedy}`)
}

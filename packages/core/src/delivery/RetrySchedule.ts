/** When a failed delivery is retried: after 30 seconds, one minute, two minutes, and so on up to one day, without end. */

const FIRST_SECONDS = 30
const MAX_SECONDS = 86_400

/** Seconds from the `failures`-th failed attempt (counted from 1) to the next. */
export const retryAfterSeconds = (failures: number): number =>
  Math.min(FIRST_SECONDS * 2 ** (Math.max(1, failures) - 1), MAX_SECONDS)

const MAX_AGENT_SECONDS = 300

/** The same for the subscription of an agent, which lives for days at most: after 1, 2, 4 seconds, up to five minutes. */
export const agentRetrySeconds = (failures: number): number =>
  Math.min(2 ** Math.min(Math.max(1, failures) - 1, 20), MAX_AGENT_SECONDS)

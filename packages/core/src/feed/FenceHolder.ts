/** A session that holds back the feed. */

/**
 * An accept holds the feed for milliseconds, or about a second if it waits for a locked table; a longer hold is
 * reported.
 */
export const FENCE_SECONDS = 10

/** A session that holds the feed back: events accepted after its transaction got its id are not shown until it ends. */
export interface FenceHolder {
  readonly pid: number
  /** The session's application name; empty if this user may not see it. */
  readonly application: string
  /** When its transaction began, RFC 3339 in UTC; null if this user may not see it. */
  readonly since: string | null
  readonly seconds: number
}

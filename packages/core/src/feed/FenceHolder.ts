/** Whom the feed waits for. */

/** A session that holds the feed back: no event accepted after its transaction got its id is shown before it ends. */
export interface FenceHolder {
  readonly pid: number
  /** As the session calls itself; empty where this user may not know. */
  readonly application: string
  /** When its transaction began, RFC 3339 in UTC; null where this user may not know. */
  readonly since: string | null
  readonly seconds: number
}

/**
 * A follower of a client: a position in the feed that the cabinet keeps for a program, under a name of its key. The
 * program acknowledges what it has processed. The decision below is pure; its caller has locked the row.
 *
 * Decision: docs/decisions/0086-a-clients-position-belongs-to-its-key.md
 */
import type { Channel } from "../event/EventLog.ts"
import type { FeedPosition } from "../feed/FeedStore.ts"
import { comparePlaces } from "../feed/FeedTrail.ts"

/** The most names of one key. */
export const MAX_FOLLOWERS_OF_KEY = 20
/** The most names in a cabinet: the lag of each is measured. */
export const MAX_CLIENT_FOLLOWERS = 100

const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/

/** What a valid name is. */
export const FOLLOWER_NAME_EXPECTED =
  "follower must be a name of 1 to 64 letters of a to z, digits, dots, hyphens and underscores, and begin with a letter or digit"

/** Whether a follower may have this name. */
export const isFollowerName = (name: string): boolean => NAME.test(name)

/** The events that a follower reads. */
export interface FollowerFilter {
  readonly sourceId: number | null
  readonly channel: Channel | null
}

/** A position as it is kept. */
export interface KeptPosition {
  readonly position: FeedPosition
  /** How often it was reset. */
  readonly resets: number
}

/** What a client acknowledges: everything up to a position. */
export interface Acknowledged {
  readonly position: FeedPosition
  /** The resets when the page was read; undefined for a cursor that was issued without a follower. */
  readonly resets: number | undefined
}

/** Whether the database has the events that the two positions name; false after it was set back. */
export interface IsThere {
  readonly kept: boolean
  readonly acknowledged: boolean
}

/**
 * Whether an acknowledgement moves the position. It moves forward only, so that a late one changes nothing. An
 * acknowledgement of a page that was read before a reset would undo the reset. A position whose event the database
 * lacks may move back: the database was set back, and the client reads again from a place that both know.
 */
export const movesTo = (kept: KeptPosition, { position, resets }: Acknowledged, isThere: IsThere): boolean => {
  if (resets !== undefined && resets !== kept.resets) return false
  // After the database was set back, another event may have the same place as the lost one.
  return comparePlaces(position, kept.position) > 0 || (!isThere.kept && isThere.acknowledged)
}

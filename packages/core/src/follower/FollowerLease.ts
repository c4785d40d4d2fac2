/**
 * The protocol of followers: who may act on a follower's behalf, and when its position may move. A lease expires, so
 * that a lost holder is replaced. Each claim draws a new fencing token, and only the holder of the current number
 * moves the position: a holder that stalled past its lease changes nothing, however late it wakes.
 *
 * These functions decide about a row that their caller has locked. They are pure, and are model-checked: `test/model`
 * walks every interleaving of two holders.
 */
import type { FeedPlace } from "../feed/FeedStore.ts"
import { comparePlaces } from "../feed/FeedTrail.ts"

/** What the protocol knows about a follower. Times are the database's, in milliseconds. */
export interface FollowerLease {
  /** After the last event whose work is done. */
  readonly place: FeedPlace
  /** The fencing token of the latest claim; 0 before the first. */
  readonly lease: number
  readonly leasedUntil: number
  /** Not claimed before this time: it waits after a failure, or rests at the end of the feed. */
  readonly notBefore: number
  /** Failures since its position last moved. */
  readonly failures: number
}

const FIRST_RETRY_MILLIS = 1_000
const MAX_RETRY_MILLIS = 300_000

/** How long a follower waits after its n-th failure in a row. */
export const retryMillis = (failures: number): number =>
  Math.min(MAX_RETRY_MILLIS, FIRST_RETRY_MILLIS * 2 ** Math.min(failures - 1, 30))

/** The row after a claim; null while another holder has the lease, or while the follower waits. */
export const claimLease = <Row extends FollowerLease>(row: Row, now: number, leaseMillis: number): Row | null =>
  row.leasedUntil > now || row.notBefore > now ? null : { ...row, lease: row.lease + 1, leasedUntil: now + leaseMillis }

/**
 * The row after the work up to a place, with the lease renewed; null if another holder has claimed it since. A lease that
 * ended without another claim is still the current one.
 */
export const movePlace = <Row extends FollowerLease>(
  row: Row,
  lease: number,
  place: FeedPlace,
  now: number,
  leaseMillis: number,
): Row | null =>
  row.lease !== lease || comparePlaces(place, row.place) < 0
    ? null
    : { ...row, place, failures: 0, leasedUntil: now + leaseMillis }

/**
 * The row after a failure: the position stays, and the follower waits, as long as its kind says. Null if another holder has
 * claimed it since.
 */
export const failLease = <Row extends FollowerLease>(
  row: Row,
  lease: number,
  now: number,
  waitMillis: (failures: number) => number = retryMillis,
): Row | null => {
  if (row.lease !== lease) return null
  const failures = row.failures + 1
  return { ...row, failures, leasedUntil: now, notBefore: now + waitMillis(failures) }
}

/**
 * The row after a person moved its position past the event at which it waits. The current claim ends with it, because
 * its holder would act on the skipped event. Null unless it waits after a failure.
 */
export const skipPast = <Row extends FollowerLease>(row: Row, place: FeedPlace, now: number): Row | null =>
  row.failures === 0 || comparePlaces(place, row.place) <= 0
    ? null
    : { ...row, place, lease: row.lease + 1, leasedUntil: now, notBefore: now, failures: 0 }

/**
 * Until when a holder may act outside the database, by its own clock: an act that begins earlier ends within the
 * lease. A holder that was stopped for longer finds that the time has passed, and reads the row first.
 */
export const actUntil = (claimedAt: number, leaseMillis: number, longestActMillis: number): number =>
  claimedAt + leaseMillis - longestActMillis

/** The row of a follower that rests at the end of the feed. Null if another holder has claimed it since. */
export const releaseLease = <Row extends FollowerLease>(
  row: Row,
  lease: number,
  now: number,
  restMillis: number,
): Row | null => (row.lease === lease ? { ...row, leasedUntil: now, notBefore: now + restMillis } : null)

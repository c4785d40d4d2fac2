/** Computes how deliveries went from the counts of their attempts. */
import type { AttemptCounts } from "./ActivityStore.ts"

/** How the deliveries of a period went. */
export interface DeliveryFigures {
  readonly delivered: number
  /** Attempts that failed; a delivery may have many. */
  readonly failed: number
  /** The milliseconds within which 50 % and 95 % of the delivered attempts ended; null without any. */
  readonly p50Millis: number | null
  readonly p95Millis: number | null
}

/** The figures of one hour. */
export interface DeliveryHour extends DeliveryFigures {
  /** RFC 3339. */
  readonly at: string
}

export const deliveryFigures = (counts: ReadonlyArray<AttemptCounts>): DeliveryFigures => {
  const within = new Map<number, number>()
  let delivered = 0
  let failed = 0
  for (const { withinMillis, attempts } of counts) {
    if (withinMillis === null) failed += attempts
    else {
      delivered += attempts
      within.set(withinMillis, (within.get(withinMillis) ?? 0) + attempts)
    }
  }
  const steps = [...within].toSorted(([one], [other]) => one - other)
  const quantile = (share: number): number | null => {
    let over = 0
    for (const [millis, attempts] of steps) {
      over += attempts
      if (over >= delivered * share) return millis
    }
    return null
  }
  return { delivered, failed, p50Millis: quantile(0.5), p95Millis: quantile(0.95) }
}

/** Computes how deliveries went from the counts of their attempts. */
import * as Shape from "../json/Shape.ts"
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

const figures: Shape.Members<DeliveryFigures> = {
  delivered: Shape.whole("Attempts that were delivered."),
  failed: Shape.whole("Attempts that failed; a delivery may have many."),
  p50Millis: Shape.orNull(Shape.whole("The median duration of delivered attempts in milliseconds; null without any.")),
  p95Millis: Shape.orNull(Shape.whole("The 95th percentile of that duration.")),
}

/** The JSON of the last day's figures and its description. */
export const deliveryFiguresShape = Shape.object<DeliveryFigures>("The last 24 hours as a whole.", figures)
/** The JSON of one hour's figures and its description. */
export const deliveryHourShape = Shape.object<DeliveryHour>("An hour with attempts.", {
  at: Shape.time("Its begin."),
  ...figures,
})

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

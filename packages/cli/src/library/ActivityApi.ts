/** A cabinet's activity, with promises. */
import { Activity, type Overview, type SourceState } from "@data-cabinet/core/activity/Activity"
import type { ActivityBucket, ActivityStep, WaitingDeliveries } from "@data-cabinet/core/activity/ActivityStore"
import type { DeliveryFigures, DeliveryHour } from "@data-cabinet/core/activity/DeliveryFigures"
import type { Run } from "./RunEffect.ts"

export type { ActivityBucket, ActivityStep, DeliveryFigures, DeliveryHour, Overview, SourceState, WaitingDeliveries }

/** Whose events, and of when. */
export interface ActivityOptions {
  /** Hours are those of UTC, days those of the cabinet's time zone. */
  readonly step: ActivityStep
  /** Only events of this source. Default all, of deleted sources too. */
  readonly sourceId?: number | undefined
  /** RFC 3339. Default 48 hours or 28 days before the end. */
  readonly from?: string | undefined
  /** RFC 3339. Default now. */
  readonly to?: string | undefined
}

/**
 * How much is received and delivered, from counts kept along the feed: the cost does not grow with the number of
 * events.
 */
export interface ActivityApi {
  /** Two days of events by hours, every source with its last event and whether it is silent, and a day of deliveries. */
  readonly overview: () => Promise<Overview>
  /**
   * Events by hours or days, oldest first, steps without events too. Rejects with `bad_period` for a period that is
   * invalid or has more than 1,000 steps, with `no_such_source` for an unknown source.
   */
  readonly events: (options: ActivityOptions) => Promise<ReadonlyArray<ActivityBucket>>
}

/** Builds the methods of `cabinet.activity`. */
export const activityApi = (run: Run): ActivityApi => ({
  overview: () => run(Activity.use((activity) => activity.overview)),
  events: ({ step, sourceId, from, to }) =>
    run(
      Activity.use((activity) =>
        activity.events({ step, sourceId: sourceId ?? null, from: from ?? null, to: to ?? null }),
      ),
    ),
})

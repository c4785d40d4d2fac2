/** A cabinet's activity, with promises. */
import { Activity, type Overview, type SourceState } from "@data-cabinet/core/activity/Activity"
import type { ActivityBucket, ActivityStep, WaitingDeliveries } from "@data-cabinet/core/activity/ActivityStore"
import type { DeliveryFigures, DeliveryHour } from "@data-cabinet/core/activity/DeliveryFigures"
import type { Run } from "./RunEffect.ts"

export type { ActivityBucket, ActivityStep, DeliveryFigures, DeliveryHour, Overview, SourceState, WaitingDeliveries }

/** Which events are counted, and by which step. */
export interface ActivityOptions {
  /** Hours are counted in UTC, days in the cabinet's time zone. */
  readonly step: ActivityStep
  /** Only events of this source. Default: all, including those of deleted sources. */
  readonly sourceId?: number | undefined
  /** The start, RFC 3339. Default: 48 hours or 28 days before the end. */
  readonly from?: string | undefined
  /** The end, RFC 3339. Default: now. */
  readonly to?: string | undefined
}

/**
 * How much the cabinet receives and delivers. The counts are kept as events arrive, so a call costs the same however many
 * events there are.
 */
export interface ActivityApi {
  /** Two days of events by the hour, a day of deliveries, and every source with its last event and whether it is silent. */
  readonly overview: () => Promise<Overview>
  /**
   * Counts of events by the hour or day, oldest first, including steps without events. Rejects with `bad_period` for a
   * period that is invalid or has more than 1,000 steps, and with `no_such_source` for an unknown source.
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

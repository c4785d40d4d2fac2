/**
 * What a cabinet does by itself, over the ports of a CabinetLayer: it sends deliveries, lets rows follow that had to
 * wait, makes partitions ahead and forgets what is past its time. Any number of processes may do it at once.
 */
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import * as AcceptLoop from "@data-cabinet/core/file/AcceptLoop"
import * as DeliveryDispatcher from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import * as PollLoop from "@data-cabinet/delivery/poll/PollLoop"
import * as Retention from "@data-cabinet/store-pg/maintenance/Retention"
import * as Maintenance from "@data-cabinet/store-pg/maintenance/Maintenance"
import * as QueueWatch from "@data-cabinet/store-pg/delivery/QueueWatch"
import * as FenceWatch from "@data-cabinet/store-pg/feed/FenceWatch"
import * as DeferredRows from "@data-cabinet/store-pg/row/DeferredRows"
import { Effect, Layer, Schedule } from "effect"
import type { Settings } from "../settings/Settings.ts"

/** For how many whole days what is kept. */
type Keeping = Pick<Settings, "retentionDays" | "logDays" | "failedLogDays">

const logPruning = ({ logDays, failedLogDays }: Keeping) =>
  Layer.effectDiscard(
    Effect.flatMap(DeliveryQueue, (queue) => queue.prune({ deliveredDays: logDays, failedDays: failedLogDays })).pipe(
      Effect.catchCause((cause) => Effect.logWarning("forgetting old attempts failed and will be tried again", cause)),
      Effect.delay("1 minute"),
      Effect.repeat(Schedule.spaced("1 hour")),
      Effect.forkScoped,
    ),
  )

/** Rows wait in every process that accepts, and imports are left by any, so this goes with every server, delivering or not. */
export const housekeepingLayer = Layer.mergeAll(
  DeferredRows.layer,
  Maintenance.layer,
  AcceptLoop.layer,
  FenceWatch.layer,
  QueueWatch.layer,
)

/** Polls, of which each is run by one process at a time. */
export const pollingLayer = PollLoop.layer()

export const workLayer = (keeping: Keeping) =>
  Layer.mergeAll(
    DeliveryDispatcher.layer(),
    logPruning(keeping),
    Retention.layer({
      originalDays: keeping.retentionDays,
      logDays: keeping.logDays,
      failedLogDays: keeping.failedLogDays,
    }),
  )

/**
 * The background work of a cabinet, over the ports of a CabinetLayer: it sends deliveries, writes deferred rows, creates
 * partitions ahead of time and deletes expired data. Any number of processes may do it at once.
 */
import { fanOutFollower } from "@data-cabinet/core/delivery/FanOut"
import { DeliveryQueue } from "@data-cabinet/core/delivery/DeliveryQueue"
import { activityFollower, attemptCount } from "@data-cabinet/core/activity/CountActivity"
import { coldHistory } from "@data-cabinet/core/cold/MoveEvents"
import { destinationFollower } from "@data-cabinet/core/destination/WriteDestination"
import { background } from "@data-cabinet/core/runtime/Background"
import { followerLoop } from "@data-cabinet/core/follower/FollowerLoop"
import * as AcceptLoop from "@data-cabinet/core/file/AcceptLoop"
import * as DeliveryDispatcher from "@data-cabinet/delivery/delivery/DeliveryDispatcher"
import * as OrderedDispatcher from "@data-cabinet/delivery/delivery/OrderedDispatcher"
import * as PollLoop from "@data-cabinet/delivery/poll/PollLoop"
import * as Retention from "@data-cabinet/store-pg/maintenance/Retention"
import * as ConnectionFit from "@data-cabinet/store-pg/maintenance/ConnectionFit"
import * as Maintenance from "@data-cabinet/store-pg/maintenance/Maintenance"
import * as SessionWatch from "@data-cabinet/store-pg/connection/SessionWatch"
import * as DiskWatch from "@data-cabinet/store-pg/embedded/DiskWatch"
import * as QueueWatch from "@data-cabinet/store-pg/delivery/QueueWatch"
import * as FenceWatch from "@data-cabinet/store-pg/feed/FenceWatch"
import * as ColdWatch from "@data-cabinet/store-pg/cold/ColdWatch"
import * as FollowerWatch from "@data-cabinet/store-pg/follower/FollowerWatch"
import * as DeferredRows from "@data-cabinet/store-pg/row/DeferredRows"
import { Layer } from "effect"
import type { Settings } from "../settings/Settings.ts"
import { rebuildFollower } from "@data-cabinet/core/row/TableRebuild"
import { shapeFollower } from "@data-cabinet/core/payload/LearnShapes"
import { noticeRounds } from "@data-cabinet/core/notice/SendNotices"
import { continuedUndos } from "@data-cabinet/core/file/ContinueUndo"

/** Retention periods, in whole days. */
type Keeping = Pick<Settings, "retentionDays" | "logDays" | "failedLogDays" | "auditDays" | "coldStore" | "coldAfter">

const logPruning = ({ logDays, failedLogDays }: Keeping) =>
  Layer.effectDiscard(
    background(
      "attempt cleanup",
      "1 hour",
      DeliveryQueue.use((queue) => queue.prune({ deliveredDays: logDays, failedDays: failedLogDays })),
      { firstAfter: "1 minute" },
    ),
  )

/**
 * Every process that accepts can defer rows, and any may leave unfinished imports, so this runs in every server,
 * delivering or not.
 */
export const maintenanceLayer = Layer.mergeAll(
  ConnectionFit.layer,
  DeferredRows.layer,
  Maintenance.layer,
  AcceptLoop.layer,
  attemptCount,
  followerLoop(activityFollower),
  followerLoop(fanOutFollower),
  followerLoop(rebuildFollower),
  followerLoop(shapeFollower),
  DiskWatch.layer,
  FenceWatch.layer,
  FollowerWatch.layer,
  ColdWatch.layer,
  noticeRounds,
  QueueWatch.layer,
  SessionWatch.layer,
  continuedUndos,
)

/** Polls, each of which one process at a time runs. */
export const pollingLayer = PollLoop.layer()

export const workLayer = (keeping: Keeping) =>
  Layer.mergeAll(
    DeliveryDispatcher.layer(),
    OrderedDispatcher.layer(),
    followerLoop(destinationFollower),
    logPruning(keeping),
    keeping.coldStore === null ? Layer.empty : coldHistory({ afterHours: keeping.coldAfter * 24 }),
    Retention.layer({
      originalDays: keeping.retentionDays,
      logDays: keeping.logDays,
      failedLogDays: keeping.failedLogDays,
      auditDays: keeping.auditDays,
    }),
  )

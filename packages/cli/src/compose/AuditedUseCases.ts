/**
 * The audit log wraps every use case that changes a cabinet. The use cases without audit are listed here, so that a use
 * case in neither list does not compile.
 */
import * as AuditedCabinet from "@data-cabinet/core/acts/AuditedCabinet"
import type { Activity } from "@data-cabinet/core/activity/Activity"
import type { AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import type { ColdOverview } from "@data-cabinet/core/cold/ColdOverview"
import type { Doctor } from "@data-cabinet/core/diagnostics/Doctor"
import type { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import type { EventContext } from "@data-cabinet/core/event/EventContext"
import type { ExportRows } from "@data-cabinet/core/export/ExportRows"
import type { Feed } from "@data-cabinet/core/feed/Feed"
import type { FeedFollower } from "@data-cabinet/core/feed/FeedFollower"
import type { AgentSubscriptions } from "@data-cabinet/core/agent/AgentSubscriptions"
import type { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import type { ClientFollowers } from "@data-cabinet/core/follower/ClientFollowers"
import type { AcceptStaged } from "@data-cabinet/core/file/AcceptStaged"
import type { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import type { Intake } from "@data-cabinet/core/intake/Intake"
import type { Authenticate } from "@data-cabinet/core/key/Authenticate"
import type { SendNotices } from "@data-cabinet/core/notice/SendNotices"
import type { Shapes } from "@data-cabinet/core/payload/Shapes"
import type { SignIn } from "@data-cabinet/core/person/SignIn"
import type { RunPoll } from "@data-cabinet/core/poll/RunPoll"
import type { Tables } from "@data-cabinet/core/row/Tables"
import type { FindPlace } from "@data-cabinet/core/selection/FindPlace"
import type { PictureColumns } from "@data-cabinet/core/selection/PictureColumns"
import type { ColumnSums } from "@data-cabinet/core/selection/ColumnSums"
import type { SampleRows } from "@data-cabinet/core/selection/SampleRows"
import type { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import type { SummarizeRows } from "@data-cabinet/core/selection/SummarizeRows"
import { Layer } from "effect"

/** Use cases that do not change a cabinet, or that only the cabinet itself calls. */
type NotAudited =
  | AcceptStaged
  | Activity
  | AgentSubscriptions
  | AttemptDelivery
  | Authenticate
  | ClientFollowers
  | ColdOverview
  | Doctor
  | EventBrowser
  | EventContext
  | ExportRows
  | Feed
  | FeedFollower
  | FindPlace
  | FollowFeed
  | Idempotency
  | Intake
  | PictureColumns
  | RunPoll
  | SampleRows
  | ColumnSums
  | SelectRows
  | SummarizeRows
  | SignIn
  | Tables
  | SendNotices
  | Shapes

type Audited = Layer.Success<typeof AuditedCabinet.layer>

/** The use cases, audited. It does not compile if a use case is neither audited nor listed as one that need not be. */
export const audited = <A, E, R>(
  useCases: [Exclude<A, Audited | NotAudited>] extends [never]
    ? Layer.Layer<A, E, R>
    : { readonly isNeitherAuditedNorListed: Exclude<A, Audited | NotAudited> },
) => AuditedCabinet.layer.pipe(Layer.provideMerge(useCases as Layer.Layer<A, E, R>))

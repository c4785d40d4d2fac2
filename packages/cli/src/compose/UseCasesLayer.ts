/** Every use case of a cabinet, over its ports. */
import { Activity } from "@data-cabinet/core/activity/Activity"
import { AgentSubscriptions } from "@data-cabinet/core/agent/AgentSubscriptions"
import { Addresses } from "@data-cabinet/core/delivery/Addresses"
import { Deliveries } from "@data-cabinet/core/delivery/Deliveries"
import { AttemptDelivery } from "@data-cabinet/core/delivery/AttemptDelivery"
import { AcceptStaged } from "@data-cabinet/core/file/AcceptStaged"
import { Import } from "@data-cabinet/core/file/Import"
import { Imports } from "@data-cabinet/core/file/Imports"
import { EventBrowser } from "@data-cabinet/core/event/EventBrowser"
import { EventContext } from "@data-cabinet/core/event/EventContext"
import { Erasure } from "@data-cabinet/core/event/Erasure"
import { Rereading } from "@data-cabinet/core/intake/Rereading"
import { Trash } from "@data-cabinet/core/event/Trash"
import { Inbox } from "@data-cabinet/core/inbox/Inbox"
import { Feed } from "@data-cabinet/core/feed/Feed"
import { FeedFollower } from "@data-cabinet/core/feed/FeedFollower"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { ColdOverview } from "@data-cabinet/core/cold/ColdOverview"
import { ColdHistory } from "@data-cabinet/core/cold/ColdHistory"
import { ClientFollowers } from "@data-cabinet/core/follower/ClientFollowers"
import { Followers } from "@data-cabinet/core/follower/Followers"
import { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { AccessTokens } from "@data-cabinet/core/key/AccessTokens"
import { ApiKeys } from "@data-cabinet/core/key/ApiKeys"
import { Authenticate } from "@data-cabinet/core/key/Authenticate"
import { Notices } from "@data-cabinet/core/notice/Notices"
import { SendNotices } from "@data-cabinet/core/notice/SendNotices"
import { People } from "@data-cabinet/core/person/People"
import { Sessions } from "@data-cabinet/core/person/Sessions"
import { SignIn } from "@data-cabinet/core/person/SignIn"
import { Destinations } from "@data-cabinet/core/destination/Destinations"
import { Polls } from "@data-cabinet/core/poll/Polls"
import { RunPoll } from "@data-cabinet/core/poll/RunPoll"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { LatestViews } from "@data-cabinet/core/row/LatestViews"
import { ReportLogin } from "@data-cabinet/core/row/ReportLogin"
import { SchemaGrants } from "@data-cabinet/core/row/SchemaGrants"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { CabinetTimeZone } from "@data-cabinet/core/selection/CabinetTimeZone"
import { FindPlace } from "@data-cabinet/core/selection/FindPlace"
import { PictureColumns } from "@data-cabinet/core/selection/PictureColumns"
import { ColumnSums } from "@data-cabinet/core/selection/ColumnSums"
import { SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Tables } from "@data-cabinet/core/row/Tables"
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { SummarizeRows } from "@data-cabinet/core/selection/SummarizeRows"
import { Shapes } from "@data-cabinet/core/payload/Shapes"
import { Sources } from "@data-cabinet/core/source/Sources"
import { LateVerification } from "@data-cabinet/core/event/LateVerification"
import { SavedViews } from "@data-cabinet/core/view/SavedViews"
import { Layer } from "effect"
import { audited } from "./AuditedUseCases.ts"
import * as DoctorLayer from "./DoctorLayer.ts"
import type { CabinetOptions } from "./CabinetLayer.ts"
import { getHeapStatistics } from "node:v8"
import { machineMemory } from "@data-cabinet/store-pg/embedded/MachineMemory"
import { MAX_WAITING_BYTES, Memory, MemoryBudget } from "@data-cabinet/core/limit/MemoryBudget"

/** Shared by all cabinets of this process: an eighth of the JavaScript heap's limit, and a sixteenth of the memory. */
const SHARED_MEMORY = new MemoryBudget(
  Math.min(MAX_WAITING_BYTES, getHeapStatistics().heap_size_limit / 8, machineMemory() / 16),
)

/** The given budget, or the shared one. */
export const memoryLayer = ({ memory = SHARED_MEMORY }: Pick<CabinetOptions, "memory">) => Layer.succeed(Memory, memory)

/** Every use case, over the ports. */
export const useCasesLayer = (options: Pick<CabinetOptions, "url" | "roles" | "settings" | "memory">) => {
  const polls = Polls.layer.pipe(Layer.provideMerge(RunPoll.layer))
  // The layers that other use cases build on.
  const records = Layer.mergeAll(
    AccessTokens.layer,
    ApiKeys.layer,
    Deliveries.layer,
    People.layer,
    Sessions.layer,
    SignIn.layer,
    ColumnIndexes.layer,
    LatestViews.layer,
    ReportLogin.layer,
    SchemaGrants.layer,
    SearchIndex.layer,
    SourceColumns.layer,
    Sources.layer,
    Trash.layer,
  )
  const useCases = Layer.mergeAll(
    Activity.layer,
    Addresses.layer,
    AgentSubscriptions.layer,
    Authenticate.layer,
    Erasure.layer,
    Inbox.layer.pipe(Layer.provideMerge(EventBrowser.layer)),
    Layer.mergeAll(Followers.layer, ClientFollowers.layer, Destinations.layer),
    Layer.merge(ColdHistory.layer, ColdOverview.layer),
    FollowFeed.layer.pipe(Layer.provideMerge(Layer.merge(Feed.layer, FeedFollower.layer))),
    Idempotency.layer,
    Import.layer,
    Imports.layer,
    Intake.layer,
    LateVerification.layer,
    Rereading.layer,
    Notices.layer,
    SendNotices.layer,
    Shapes.layer,
    polls,
    DoctorLayer.layer(options),
    Tables.layer,
    TableRebuild.layer,
    Layer.mergeAll(
      SummarizeRows.layer.pipe(Layer.provideMerge(Layer.merge(SampleRows.layer, ColumnSums.layer))),
      PictureColumns.layer,
      FindPlace.layer,
      EventContext.layer,
      SavedViews.layer,
      ExportRows.layer,
    ).pipe(Layer.provideMerge(SelectRows.layer)),
  ).pipe(
    Layer.provideMerge(Layer.merge(AcceptStaged.layer, AttemptDelivery.layer)),
    Layer.provideMerge(records),
    Layer.provide(Layer.succeed(CabinetTimeZone, options.settings.timeZone)),
  )
  return audited(useCases).pipe(Layer.provide(memoryLayer(options)))
}

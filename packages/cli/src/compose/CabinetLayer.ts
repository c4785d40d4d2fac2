/**
 * One cabinet, composed: every port with its chosen adapter, and every use case over them. This is the only place that
 * picks adapters; servers, workers, commands and `openCabinet` are all built on it. It starts no background work (see
 * WorkLayer) and listens nowhere (see HttpLayer): connections are opened on first use.
 */
import type { MemoryBudget } from "@data-cabinet/core/limit/MemoryBudget"
import * as HttpCourier from "@data-cabinet/delivery/delivery/HttpCourier"
import * as PinnedAddressCheck from "@data-cabinet/delivery/delivery/PinnedAddressCheck"
import * as NameLookup from "@data-cabinet/delivery/outgoing/NameLookup"
import * as PinnedClient from "@data-cabinet/delivery/outgoing/PinnedClient"
import * as HttpPollFetch from "@data-cabinet/delivery/poll/HttpPollFetch"
import * as HttpProofProviders from "@data-cabinet/delivery/proof/HttpProofProviders"
import * as HttpSnsService from "@data-cabinet/delivery/verification/HttpSnsService"
import * as NodeArchiveReader from "@data-cabinet/http-node/archive/NodeArchiveReader"
import * as WorkerSheetReader from "@data-cabinet/http-node/file/WorkerSheetReader"
import * as PgActivityStore from "@data-cabinet/store-pg/activity/PgActivityStore"
import * as PgDiagnostics from "@data-cabinet/store-pg/diagnostics/PgDiagnostics"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import * as ReaderClient from "@data-cabinet/store-pg/connection/ReaderClient"
import * as StandbyReader from "@data-cabinet/store-pg/connection/StandbyReader"
import * as PgApplyTurn from "@data-cabinet/store-pg/apply/PgApplyTurn"
import * as PgAuditLog from "@data-cabinet/store-pg/audit/PgAuditLog"
import * as PgAddressStore from "@data-cabinet/store-pg/delivery/PgAddressStore"
import * as PgOrderedQueue from "@data-cabinet/store-pg/delivery/PgOrderedQueue"
import * as PgDestinationStore from "@data-cabinet/store-pg/destination/PgDestinationStore"
import * as PgDeliveryQueue from "@data-cabinet/store-pg/delivery/PgDeliveryQueue"
import * as PgDeliverySignal from "@data-cabinet/store-pg/delivery/PgDeliverySignal"
import * as PgReceiverCertificates from "@data-cabinet/store-pg/delivery/PgReceiverCertificates"
import * as PgEventDetail from "@data-cabinet/store-pg/event/PgEventDetail"
import * as PgEventListStore from "@data-cabinet/store-pg/event/PgEventListStore"
import * as PgEventLog from "@data-cabinet/store-pg/event/PgEventLog"
import { WRITERS } from "@data-cabinet/store-pg/event/EventWriter"
import * as PgErasureStore from "@data-cabinet/store-pg/event/PgErasureStore"
import * as PgRereadStore from "@data-cabinet/store-pg/event/PgRereadStore"
import * as PgTrashStore from "@data-cabinet/store-pg/event/PgTrashStore"
import * as PgInboxStore from "@data-cabinet/store-pg/inbox/PgInboxStore"
import * as PgFeedSignal from "@data-cabinet/store-pg/feed/PgFeedSignal"
import * as PgFanOutStore from "@data-cabinet/store-pg/delivery/PgFanOutStore"
import * as PgFeedStore from "@data-cabinet/store-pg/feed/PgFeedStore"
import * as PgFeedTailStore from "@data-cabinet/store-pg/feed/PgFeedTailStore"
import * as PgClientFollowerStore from "@data-cabinet/store-pg/follower/PgClientFollowerStore"
import * as PgFollowerStore from "@data-cabinet/store-pg/follower/PgFollowerStore"
import * as PgImportStore from "@data-cabinet/store-pg/file/PgImportStore"
import * as PgImportUndoStore from "@data-cabinet/store-pg/file/PgImportUndoStore"
import * as PgAgentSubscriptionStore from "@data-cabinet/store-pg/agent/PgAgentSubscriptionStore"
import * as PgAccessTokenStore from "@data-cabinet/store-pg/key/PgAccessTokenStore"
import * as PgLiveKeyStore from "@data-cabinet/store-pg/key/PgLiveKeyStore"
import { SecretCiphers } from "@data-cabinet/store-pg/key/SecretCipher"
import * as PgReaderTokenStore from "@data-cabinet/store-pg/key/PgReaderTokenStore"
import * as PgIdempotencyStore from "@data-cabinet/store-pg/idempotency/PgIdempotencyStore"
import * as PgApiKeyStore from "@data-cabinet/store-pg/key/PgApiKeyStore"
import * as PgRateLimiter from "@data-cabinet/store-pg/limit/PgRateLimiter"
import * as PgRateWindows from "@data-cabinet/store-pg/limit/PgRateWindows"
import type { Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import * as DirectorySpace from "@data-cabinet/store-pg/embedded/DirectorySpace"
import * as LastWords from "@data-cabinet/store-pg/embedded/LastWords"
import * as PgNoticeStore from "@data-cabinet/store-pg/notice/PgNoticeStore"
import * as PgCursorKeys from "@data-cabinet/store-pg/pagination/PgCursorKeys"
import * as PgShapeStore from "@data-cabinet/store-pg/payload/PgShapeStore"
import * as PgPersonStore from "@data-cabinet/store-pg/person/PgPersonStore"
import * as PgSessionStore from "@data-cabinet/store-pg/person/PgSessionStore"
import * as PgSavedViewStore from "@data-cabinet/store-pg/view/PgSavedViewStore"
import * as PgPollStore from "@data-cabinet/store-pg/poll/PgPollStore"
import * as PgCatalog from "@data-cabinet/store-pg/row/PgCatalog"
import * as PgSchemaGrantStore from "@data-cabinet/store-pg/row/PgSchemaGrantStore"
import * as PgRowSnapshots from "@data-cabinet/store-pg/export/PgRowSnapshots"
import * as PgColumnIndexStore from "@data-cabinet/store-pg/row/PgColumnIndexStore"
import * as PgLatestViewStore from "@data-cabinet/store-pg/row/PgLatestViewStore"
import * as PgRebuildStore from "@data-cabinet/store-pg/row/PgRebuildStore"
import * as PgReportLoginStore from "@data-cabinet/store-pg/row/PgReportLoginStore"
import * as PgColumnProfile from "@data-cabinet/store-pg/row/PgColumnProfile"
import * as PgRowReader from "@data-cabinet/store-pg/row/PgRowReader"
import * as PgSearchIndexStore from "@data-cabinet/store-pg/row/PgSearchIndexStore"
import * as PgSourceColumnStore from "@data-cabinet/store-pg/row/PgSourceColumnStore"
import * as PgSourceStore from "@data-cabinet/store-pg/source/PgSourceStore"
import * as PgLimitedRequests from "@data-cabinet/store-pg/limit/PgLimitedRequests"
import * as PgLateVerificationStore from "@data-cabinet/store-pg/event/PgLateVerificationStore"
import * as PgRefusedSignatures from "@data-cabinet/store-pg/verification/PgRefusedSignatures"
import { Layer } from "effect"
import type { ColdValues } from "../settings/ColdSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { coldLayer, destinationsLayer } from "./FilesLayer.ts"
import { useCasesLayer, memoryLayer } from "./UseCasesLayer.ts"
import { DiskSpace, UNKNOWN_DISK } from "@data-cabinet/core/notice/SendNotices"

export interface CabinetOptions {
  readonly url: string
  readonly roles: Roles
  /** Where the embedded PostgreSQL has its data; null for a database elsewhere. */
  readonly dataDir?: string | null
  /** The cabinet's name on a server of many; null for a server's own database. */
  readonly cabinet?: string | null
  readonly settings: Pick<
    Settings,
    | keyof ColdValues
    | "allowedNetworks"
    | "apiRate"
    | "destinationRoot"
    | "intakeRate"
    | "lockTimeout"
    | "readLag"
    | "readUrl"
    | "reading"
    | "retentionDays"
    | "secretKey"
    | "statementTimeout"
    | "timeZone"
  >
  /** Whether this process sends deliveries: then it also listens for events that other processes accept. */
  readonly delivers: boolean
  /** Whether this process accepts events from its start on: it then keeps sessions to write them. */
  readonly accepts?: boolean
  /** The owner's connections, including its writers; those shared by single statements are extra. */
  readonly maxConnections?: number | undefined
  /** The reader's connections. */
  readonly maxReaderConnections?: number | undefined
  /** The memory for submissions; without it the budget that all cabinets of this process share. */
  readonly memory?: MemoryBudget | undefined
}

const readerLayer = ({ roles: { reader }, settings, maxReaderConnections }: CabinetOptions) => {
  if (settings.reading === "off") return ReaderClient.layerOff(reader.role, "Reading is switched off.")
  if (!reader.there) return ReaderClient.layerOff(reader.role, reader.reason)
  const primary = {
    url: reader.url,
    role: reader.role,
    statementTimeoutMillis: settings.statementTimeout,
    lockTimeoutMillis: settings.lockTimeout,
    ...(maxReaderConnections === undefined ? {} : { maxConnections: maxReaderConnections }),
  }
  const { readUrl, readLag } = settings
  return readUrl === null
    ? ReaderClient.layer(primary)
    : StandbyReader.layer({ url: readUrl, maxLagMillis: readLag, reader: primary })
}

const DEFAULT_CONNECTIONS = 10

const diskLayer = ({ dataDir = null }: CabinetOptions) =>
  dataDir === null ? Layer.succeed(DiskSpace, UNKNOWN_DISK) : DirectorySpace.layer(dataDir)

/** Every port with its adapter. */
export const portsLayer = (options: CabinetOptions) => {
  const { url, settings, maxConnections = DEFAULT_CONNECTIONS } = options
  const connections = readerLayer(options).pipe(
    Layer.provideMerge(OwnerClient.layer({ url, maxConnections: maxConnections - WRITERS })),
  )
  const outgoing = PinnedClient.layer({ allowedNetworks: settings.allowedNetworks }).pipe(
    Layer.provide(NameLookup.layer()),
    Layer.provide(PgReceiverCertificates.layer),
  )
  return Layer.mergeAll(
    PgAccessTokenStore.layer,
    PgAgentSubscriptionStore.layer,
    PgActivityStore.layer,
    PgAddressStore.layer,
    PgOrderedQueue.layer,
    PgApplyTurn.layer,
    PgAuditLog.layer,
    PgRateWindows.layer,
    PgRateLimiter.layer({ apiRate: settings.apiRate, intakeRate: settings.intakeRate }),
    PgRefusedSignatures.layer,
    PgLateVerificationStore.layer({ originalDays: settings.retentionDays }),
    PgRereadStore.layer({ originalDays: settings.retentionDays }),
    PgLimitedRequests.layer,
    PgReaderTokenStore.layer({ apiRate: settings.apiRate }),
    PgApiKeyStore.layer,
    PgLiveKeyStore.layer,
    PgCatalog.layer,
    PgCursorKeys.layer,
    PgDiagnostics.layer,
    PgDeliveryQueue.layer,
    PgEventDetail.layer({ originalDays: settings.retentionDays }),
    PgEventListStore.layer,
    PgInboxStore.layer,
    PgEventLog.layer,
    PgSchemaGrantStore.layer(options.roles.author),
    PgFeedStore.layer,
    PgFeedTailStore.layer,
    Layer.mergeAll(PgFanOutStore.layer, PgFollowerStore.layer, PgClientFollowerStore.layer),
    PgNoticeStore.layer,
    diskLayer(options),
    LastWords.layer(options.dataDir ?? null),
    PgPersonStore.layer,
    PgSessionStore.layer,
    PgDestinationStore.layer,
    destinationsLayer(options),
    PgPollStore.layer,
    PgColumnIndexStore.layer,
    PgLatestViewStore.layer(options.roles.author),
    PgReportLoginStore.layer({ url }),
    PgRebuildStore.layer,
    PgColumnProfile.layer.pipe(Layer.provideMerge(PgRowReader.layer)),
    PgRowSnapshots.layer,
    PgSavedViewStore.layer,
    PgShapeStore.layer,
    PgSearchIndexStore.layer,
    PgSourceColumnStore.layer,
    PgSourceStore.layer,
    PgIdempotencyStore.layer,
    PgImportStore.layer,
    PgImportUndoStore.layer,
    PgErasureStore.layer,
    PgTrashStore.layer,
    HttpCourier.layer(),
    HttpPollFetch.layer(),
    HttpSnsService.layer,
    HttpProofProviders.layer,
    PinnedAddressCheck.layer,
    WorkerSheetReader.layer(),
    NodeArchiveReader.layer,
  ).pipe(
    Layer.provide(outgoing),
    Layer.provideMerge(options.delivers ? PgDeliverySignal.layer : PgDeliverySignal.layerSender),
    Layer.provideMerge(PgFeedSignal.layer),
    Layer.provideMerge(coldLayer(options).pipe(Layer.provide(outgoing))),
    Layer.provideMerge(connections),
    Layer.provide(memoryLayer(options)),
    Layer.provide(Layer.succeed(PgEventLog.KeptWriters, options.accepts === true)),
    Layer.provide(Layer.succeed(SecretCiphers, settings.secretKey)),
  )
}

export const cabinetLayer = (options: CabinetOptions) =>
  useCasesLayer(options).pipe(Layer.provideMerge(portsLayer(options)))

/** Everything that a composed cabinet provides. */
export type CabinetServices = Layer.Success<ReturnType<typeof cabinetLayer>>

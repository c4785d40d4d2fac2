/**
 * A cabinet embedded in another program, with promises and plain values. No Effect is needed to use it. Any number of
 * cabinets may be open in one process; no global state is touched.
 *
 *   const cabinet = await openCabinet({ databaseUrl, baseUrl })
 *   app.use("/data", cabinet.nodeHandler)
 *   const source = await cabinet.sources.create({ name: "Orders" })
 *   await cabinet.intake(source.id, { fields: { total: "12.50" } })
 *   await cabinet.close()
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is loaded for what it refuses
import "./library/Host.ts"
import { Diagnostics } from "@data-cabinet/core/diagnostics/Diagnostics"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { CabinetDatabase } from "./compose/CabinetDatabase.ts"
import { addressesApi } from "./library/AddressesApi.ts"
import type { Cabinet } from "./library/Cabinet.ts"
import { type OpenCabinetOptions, settingsFrom } from "./library/CabinetOptions.ts"
import { embeddedLayer } from "./library/EmbeddedLayer.ts"
import { eventsApi } from "./library/EventsApi.ts"
import { exportRows } from "./library/ExportApi.ts"
import { readFeed } from "./library/FeedApi.ts"
import { handlers } from "./library/Handlers.ts"
import { importsApi } from "./library/ImportsApi.ts"
export type {
  RebuildOptions,
  RebuildPreview,
  RebuildProgress,
  RebuildResult,
  RebuildsApi,
  RebuildState,
  WishedColumn,
} from "./library/RebuildsApi.ts"
import { rebuildsApi } from "./library/RebuildsApi.ts"
import { GRACE_MILLIS, inScope } from "./library/InScope.ts"
import { keysApi, tokensApi } from "./library/KeysApi.ts"
import { activityApi } from "./library/ActivityApi.ts"
import { noticesApi } from "./library/NoticesApi.ts"
import { destinationsApi } from "./library/DestinationsApi.ts"
import { pollsApi } from "./library/PollsApi.ts"
import { reportLoginApi } from "./library/ReportLoginApi.ts"
import { readAllRows, readRows } from "./library/RowsApi.ts"
import { runIn } from "./library/RunEffect.ts"
import { runAsAuthor } from "./library/ScriptApi.ts"
import { knownBaseUrl } from "./settings/BaseUrl.ts"
import { sourcesApi } from "./library/SourcesApi.ts"
import { columnsApi, tablesApi } from "./library/TablesApi.ts"
import { InFlight } from "./library/InFlight.ts"

export { verifyDelivery, type VerifyOptions } from "@data-cabinet/core/delivery/VerifyDelivery"
export { CabinetError } from "./library/CabinetError.ts"
export type { CabinetErrorCode } from "./library/CabinetErrorCode.ts"
export type {
  Address,
  AddressChange,
  AddressesApi,
  Attempt,
  AttemptsQuery,
  ClientCertificate,
  ClientIdentity,
  Delivery,
  LastAttempt,
  PingResult,
  Subscription,
} from "./library/AddressesApi.ts"
export type { Cabinet, DiagnosticsReport, CloseOptions, IntakeReceipt, IntakeSubmission } from "./library/Cabinet.ts"
export type {
  ActivityApi,
  ActivityBucket,
  ActivityOptions,
  ActivityStep,
  DeliveryFigures,
  DeliveryHour,
  Overview,
  SourceState,
  WaitingDeliveries,
} from "./library/ActivityApi.ts"
export type { AskedWho, NamedPerson, WhoIs } from "@data-cabinet/http-node/session/ExternalSignIn"
export type { ConsoleOptions, OpenCabinetOptions } from "./library/CabinetOptions.ts"
export type {
  ErasureCounts,
  EventInspection,
  EventsApi,
  RereadSettings,
  OriginalRequest,
  PurgeWhereOptions,
} from "./library/EventsApi.ts"
export type { DecimalDigits, ExportFormat, ExportOptions, Selection } from "./library/ExportApi.ts"
export type { Channel, FeedBeginning, FeedEvent, FeedOptions, StoredEvent } from "./library/FeedApi.ts"
export type { FetchHandler, NodeHandler } from "./library/Handlers.ts"
export type { ProgramLog } from "./library/HostLog.ts"
export type {
  FileImportOptions,
  FileToImport,
  ImportOptions,
  ImportProgress,
  ImportReport,
  ImportsApi,
  ImportStatus,
} from "./library/ImportsApi.ts"
export type { AccessToken, ApiKey, IssuedAccessToken, IssuedKey, KeysApi, Role, TokensApi } from "./library/KeysApi.ts"
export type { NoticesApi, NoticeState, SentNotice } from "./library/NoticesApi.ts"
export type {
  Destination,
  DestinationChange,
  DestinationsApi,
  NewDestinationOptions,
} from "./library/DestinationsApi.ts"
export type { NewPoll, Poll, PollRun, PollsApi, PollTrial } from "./library/PollsApi.ts"
export type {
  IssuedReportLogin,
  ReportLoginApi,
  ReportLoginState,
  RightBeyondReading,
} from "./library/ReportLoginApi.ts"
export type {
  Column,
  Direction,
  FilterCondition,
  FilterJoin,
  OneOrMany,
  Row,
  RowsQuery,
  RowsResult,
} from "./library/RowsApi.ts"
export type { ScriptOptions, ScriptOutcome } from "./library/ScriptApi.ts"
export type {
  NewSource,
  Source,
  SourceChange,
  SourceEncoding,
  SourcesApi,
  SourceWithAddress,
} from "./library/SourcesApi.ts"
export type {
  ColumnIndex,
  ColumnIndexState,
  ColumnKind,
  ColumnsApi,
  DateNotation,
  FoundSearchIndex,
  LatestView,
  LatestViewOptions,
  Notation,
  NumberNotation,
  RetypeResult,
  RetypeTrial,
  SearchIndexState,
  SourceColumn,
  Table,
  TableDetail,
  TableKind,
  TablesApi,
} from "./library/TablesApi.ts"

const open = Effect.fnUntraced(function* (options: OpenCabinetOptions, scope: Scope.Closeable) {
  const settings = yield* settingsFrom(options)
  let database: CabinetDatabase | undefined
  const opened = yield* Layer.build(embeddedLayer(settings, options, (found) => (database = found)))
  const inFlight = new InFlight()
  const { nodeHandler, fetchHandler } = yield* Effect.provideContext(handlers(inFlight), opened)

  const services = Context.merge(yield* Effect.context(), opened)
  const run = runIn(services, inFlight)
  const base = knownBaseUrl(settings, database!.recordedBaseUrl)
  let closing: Promise<void> | undefined
  const close = async (graceMillis: number) => {
    await inFlight.close(graceMillis)
    await Effect.runPromiseWith(services)(Scope.close(scope, Exit.void))
  }
  const cabinet: Cabinet = {
    nodeHandler,
    fetchHandler,
    baseUrl: base.known ? base.url : null,
    sources: sourcesApi(run, base.url),
    keys: keysApi(run),
    tokens: tokensApi(run),
    addresses: addressesApi(run),
    imports: importsApi(run),
    destinations: destinationsApi(run),
    polls: pollsApi(run),
    events: eventsApi(run, base.url),
    tables: tablesApi(run),
    columns: columnsApi(run),
    rebuilds: rebuildsApi(run),
    intake: async (sourceId, { fields }) => {
      const receipt = await run(Intake.use((intake) => intake.accept(sourceId, fields)))
      return { id: receipt.id, duplicate: receipt.repeatOf !== null, empty: receipt.empty }
    },
    feed: (query = {}) => readFeed(run, inFlight.closing, query),
    rows: (object, query = {}) => readRows(run, object, query),
    allRows: (object, query = {}) => readAllRows(run, object, query),
    export: (object, selection, how) => exportRows(run, object, selection, how),
    sql: (script, how = {}) => runAsAuthor(run, database!.roles.author, script, how),
    reportLogin: reportLoginApi(run),
    activity: activityApi(run),
    notices: noticesApi(run),
    diagnostics: () => run(Diagnostics.use((diagnostics) => diagnostics.examine)),
    close: ({ graceMillis = GRACE_MILLIS } = {}) => (closing ??= close(graceMillis)),
  }
  return cabinet
})

/**
 * Opens a cabinet and brings its database up to date. Rejects with a CabinetError that explains why if it cannot: an
 * invalid option, a database that cannot be reached or refuses the connection.
 */
export const openCabinet = (options: OpenCabinetOptions = {}): Promise<Cabinet> =>
  inScope(options.log, (scope) => open(options, scope))

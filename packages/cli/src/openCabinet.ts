/**
 * A cabinet inside another program: opened and closed by it, with promises and plain values. No Effect is needed to use
 * it. Any number of cabinets may be open in one process; nothing global is touched.
 *
 *   const cabinet = await openCabinet({ databaseUrl, baseUrl })
 *   app.use("/data", cabinet.nodeHandler)
 *   const source = await cabinet.sources.create({ name: "Orders" })
 *   await cabinet.intake(source.id, { fields: { total: "12.50" } })
 *   await cabinet.close()
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is loaded for what it refuses
import "./embedding/Host.ts"
import { Checkup } from "@data-cabinet/core/cabinet/Checkup"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { Context, Effect, Exit, Layer, Scope } from "effect"
import type { CabinetDatabase } from "./cabinet/CabinetDatabase.ts"
import { addressesFace } from "./embedding/AddressesFace.ts"
import type { Cabinet } from "./embedding/Cabinet.ts"
import { type OpenCabinetOptions, settingsFrom } from "./embedding/CabinetOptions.ts"
import { baseUrlOf, embeddedLayer } from "./embedding/EmbeddedLayer.ts"
import { eventsFace } from "./embedding/EventsFace.ts"
import { readFeed } from "./embedding/FeedFace.ts"
import { handlers } from "./embedding/Handlers.ts"
import { importsFace } from "./embedding/ImportsFace.ts"
import { GRACE_MILLIS, inScope } from "./embedding/InScope.ts"
import { keysFace, operatorsFace } from "./embedding/KeysFace.ts"
import { pollsFace } from "./embedding/PollsFace.ts"
import { readAllRows, readRows } from "./embedding/RowsFace.ts"
import { runIn } from "./embedding/RunEffect.ts"
import { runAsAuthor } from "./embedding/ScriptFace.ts"
import { sourcesFace } from "./embedding/SourcesFace.ts"
import { columnsFace, tablesFace } from "./embedding/TablesFace.ts"
import { Underway } from "./embedding/Underway.ts"

export { verifyDelivery, type VerifyOptions } from "@data-cabinet/core/delivery/VerifyDelivery"
export { CabinetError, type CabinetErrorCode } from "./embedding/CabinetError.ts"
export type {
  Address,
  AddressChange,
  AddressesFace,
  Attempt,
  AttemptsQuery,
  Delivery,
  PingResult,
  Subscription,
} from "./embedding/AddressesFace.ts"
export type { Cabinet, CheckupReport, CloseOptions, IntakeReceipt, IntakeSubmission } from "./embedding/Cabinet.ts"
export type { OpenCabinetOptions } from "./embedding/CabinetOptions.ts"
export type { EventInspection, EventsFace, OriginalRequest } from "./embedding/EventsFace.ts"
export type { Channel, FeedEvent, FeedOptions, StoredEvent } from "./embedding/FeedFace.ts"
export type { FetchHandler, NodeHandler } from "./embedding/Handlers.ts"
export type { ProgramLog } from "./embedding/HostLog.ts"
export type {
  FileImportOptions,
  FileToImport,
  ImportOptions,
  ImportProgress,
  ImportReport,
  ImportsFace,
  ImportStatus,
} from "./embedding/ImportsFace.ts"
export type { ApiKey, IssuedKey, IssuedOperator, KeysFace, Operator, OperatorsFace } from "./embedding/KeysFace.ts"
export type { NewPoll, Poll, PollRun, PollsFace } from "./embedding/PollsFace.ts"
export type { Column, Direction, FilterCondition, OneOrMany, Row, RowsQuery, RowsResult } from "./embedding/RowsFace.ts"
export type { ScriptOptions, ScriptOutcome } from "./embedding/ScriptFace.ts"
export type {
  NewSource,
  Source,
  SourceChange,
  SourceEncoding,
  SourcesFace,
  SourceWithAddress,
} from "./embedding/SourcesFace.ts"
export type {
  ColumnKind,
  ColumnsFace,
  RetypeResult,
  SearchIndexState,
  SourceColumn,
  Table,
  TableDetail,
  TableKind,
  TablesFace,
} from "./embedding/TablesFace.ts"

const open = Effect.fnUntraced(function* (options: OpenCabinetOptions, scope: Scope.Closeable) {
  const settings = yield* settingsFrom(options)
  let database: CabinetDatabase | undefined
  const opened = yield* Layer.build(embeddedLayer(settings, options, (found) => (database = found)))
  const underway = new Underway()
  const { nodeHandler, fetchHandler } = yield* Effect.provideContext(handlers(underway), opened)

  const services = Context.merge(yield* Effect.context(), opened)
  const run = runIn(services, underway)
  const baseUrl = baseUrlOf(settings)
  let closing: Promise<void> | undefined
  const close = async (graceMillis: number) => {
    await underway.close(graceMillis)
    await Effect.runPromiseWith(services)(Scope.close(scope, Exit.void))
  }
  const cabinet: Cabinet = {
    nodeHandler,
    fetchHandler,
    sources: sourcesFace(run, baseUrl),
    keys: keysFace(run),
    operators: operatorsFace(run),
    addresses: addressesFace(run),
    imports: importsFace(run),
    polls: pollsFace(run),
    events: eventsFace(run),
    tables: tablesFace(run),
    columns: columnsFace(run),
    intake: async (sourceId, { fields }) => {
      const receipt = await run(Intake.use((intake) => intake.accept(sourceId, fields)))
      return { id: receipt.id, duplicate: receipt.repeatOf !== null, empty: receipt.empty }
    },
    feed: (query = {}) => readFeed(run, underway.closing, query),
    rows: (object, query = {}) => readRows(run, object, query),
    allRows: (object, query = {}) => readAllRows(run, object, query),
    sql: (script, how = {}) => runAsAuthor(run, database!.roles.author, script, how),
    checkup: () => run(Checkup.use((checkup) => checkup.examine)),
    close: ({ graceMillis = GRACE_MILLIS } = {}) => (closing ??= close(graceMillis)),
  }
  return cabinet
})

/**
 * Opens a cabinet and brings its database up to date. Rejects with a CabinetError in words when that cannot be: a wrong
 * option, a database that is not there or that refuses.
 */
export const openCabinet = (options: OpenCabinetOptions = {}): Promise<Cabinet> =>
  inScope(options.log, (scope) => open(options, scope))

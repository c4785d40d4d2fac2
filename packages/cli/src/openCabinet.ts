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
import type { IncomingMessage, ServerResponse } from "node:http"
import { Intake } from "@data-cabinet/core/intake/Intake"
import * as Server from "@data-cabinet/http-node/Server"
import { Effect, Exit, Layer, Scope } from "effect"
import { cabinetDatabase } from "./cabinet/CabinetDatabase.ts"
import { cabinetLayer } from "./cabinet/CabinetLayer.ts"
import { httpLayer } from "./cabinet/HttpLayer.ts"
import { listeningUrl } from "./cabinet/BaseUrl.ts"
import { housekeepingLayer, pollingLayer, workLayer } from "./cabinet/WorkLayer.ts"
import { type AddressesFace, addressesFace } from "./embedding/AddressesFace.ts"
import { type OpenCabinetOptions, settingsFrom } from "./embedding/CabinetOptions.ts"
import { type ImportsFace, importsFace } from "./embedding/ImportsFace.ts"
import * as HostLog from "./embedding/HostLog.ts"
import { type KeysFace, keysFace } from "./embedding/KeysFace.ts"
import { type PollsFace, pollsFace } from "./embedding/PollsFace.ts"
import {
  type FeedEvent,
  type FeedOptions,
  readFeed,
  readRows,
  type RowsQuery,
  type RowsResult,
} from "./embedding/ReadingFace.ts"
import type { Run } from "./embedding/RunEffect.ts"
import { type SourcesFace, sourcesFace } from "./embedding/SourcesFace.ts"

export { verifyDelivery, type VerifyOptions } from "@data-cabinet/core/delivery/VerifyDelivery"
export type * from "./embedding/AddressesFace.ts"
export type * from "./embedding/CabinetOptions.ts"
export type * from "./embedding/HostLog.ts"
export type * from "./embedding/ImportsFace.ts"
export type * from "./embedding/KeysFace.ts"
export type * from "./embedding/PollsFace.ts"
export type * from "./embedding/ReadingFace.ts"
export type * from "./embedding/SourcesFace.ts"

/** What a submission became. */
export interface IntakeReceipt {
  readonly id: number
  /** The same fields came to the same source within five minutes: it is kept, but makes no row and no delivery. */
  readonly duplicate: boolean
  readonly empty: boolean
}

export interface Cabinet {
  /** `(req, res)`: for node:http, Express, Koa or Fastify, below any path, before anything that reads bodies. */
  readonly nodeHandler: (request: IncomingMessage, response: ServerResponse) => void
  /** `Request => Promise<Response>`: for frameworks that speak fetch. */
  readonly fetchHandler: (request: Request) => Promise<Response>
  readonly sources: SourcesFace
  readonly keys: KeysFace
  readonly addresses: AddressesFace
  readonly imports: ImportsFace
  readonly polls: PollsFace
  /** One event from this program itself: no secret and no rate, but the same repeats, the same row, the same deliveries. */
  readonly intake: (
    sourceId: number,
    submission: { readonly fields: Readonly<Record<string, unknown>> },
  ) => Promise<IntakeReceipt>
  readonly feed: (options?: FeedOptions) => AsyncIterable<FeedEvent>
  /** Rows of a table or view such as `sources.orders`, by the API's own parameters. */
  readonly rows: (object: string, query?: RowsQuery) => Promise<RowsResult>
  /** Finishes what is under way and lets everything go; safe to repeat. */
  readonly close: () => Promise<void>
}

const open = Effect.fnUntraced(function* (options: OpenCabinetOptions, scope: Scope.Closeable) {
  const settings = yield* settingsFrom(options)
  const database = yield* cabinetDatabase(settings, "join")
  const delivers = options.delivery !== false
  const services = yield* Layer.build(
    cabinetLayer({ ...database, settings, delivers, maxConnections: options.maxConnections }),
  )
  const provided = Layer.succeedContext(services)
  const work = delivers ? Layer.mergeAll(housekeepingLayer, pollingLayer, workLayer(settings)) : housekeepingLayer
  yield* Layer.build(Layer.provide(work, provided))

  const baseUrl = settings.baseUrl ?? listeningUrl(settings.host, settings.port)
  const http = yield* Layer.build(Layer.provide(httpLayer({ baseUrl, settings }), provided))
  const faces = Effect.all({
    nodeHandler: Server.nodeHandler({ metrics: false }),
    fetchHandler: Server.fetchHandler({ metrics: false }),
  })
  const { nodeHandler, fetchHandler } = yield* Effect.provideContext(faces, http)

  const context = yield* Effect.context()
  let closing: Promise<void> | undefined
  const run: Run = (effect) => {
    if (closing !== undefined) return Promise.reject(new Error("The cabinet is closed."))
    return Effect.runPromiseWith(context)(Effect.provideContext(effect, services))
  }
  const cabinet: Cabinet = {
    nodeHandler,
    fetchHandler,
    sources: sourcesFace(run, baseUrl),
    keys: keysFace(run),
    addresses: addressesFace(run),
    imports: importsFace(run),
    polls: pollsFace(run),
    intake: async (sourceId, { fields }) => {
      const receipt = await run(Intake.use((intake) => intake.accept(sourceId, fields)))
      return { id: receipt.id, duplicate: receipt.repeatOf !== null, empty: receipt.empty }
    },
    feed: (query = {}) => readFeed(run, query),
    rows: (object, query = {}) => readRows(run, object, query),
    close: () => {
      closing ??= Effect.runPromiseWith(context)(Scope.close(scope, Exit.void))
      return closing
    },
  }
  return cabinet
})

/** Opens a cabinet and brings its database up to date. Rejects in words when that cannot be. */
export const openCabinet = (options: OpenCabinetOptions = {}): Promise<Cabinet> =>
  Effect.gen(function* () {
    const scope = yield* Scope.make()
    return yield* open(options, scope).pipe(
      Effect.provideService(Scope.Scope, scope),
      Effect.onError((cause) => Scope.close(scope, Exit.failCause(cause))),
    )
  }).pipe(Effect.provide(HostLog.layer(options.log)), Effect.runPromise)

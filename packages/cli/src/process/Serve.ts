/**
 * A server: database, composition, background work and HTTP, opened in this order and closed in reverse, so that requests
 * in flight are completed and deliveries in flight are settled before their database closes. With several workers the parent
 * opens the database and the workers do the rest.
 */
import { Listener, type ListenError } from "@data-cabinet/http-node/server/Listener"
import * as Server from "@data-cabinet/http-node/routes/Server"
import { Context, Effect, Latch, Layer, type Scope } from "effect"
import { BackgroundBegins } from "@data-cabinet/core/runtime/Background"
import { forgetBaseUrlAt, recordBaseUrlAt } from "@data-cabinet/store-pg/source/RecordedBaseUrl"
import * as EmbeddedPostgres from "@data-cabinet/store-pg/embedded/EmbeddedPostgres"
import { StartedProcesses } from "@data-cabinet/store-pg/maintenance/ConnectionFit"
import { listeningUrl } from "../settings/BaseUrl.ts"
import { type CabinetDatabase, cabinetDatabase } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { type SeededCabinet, seedCabinet } from "../compose/SeedCabinet.ts"
import { describeUrl } from "../compose/OpenDatabase.ts"
import { httpLayer } from "../compose/HttpLayer.ts"
import { openTenants } from "../tenancy/OpenTenants.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../error/StartError.ts"
import { buildAfresh, START_TIMEOUT_MILLIS, startSteps } from "../compose/WaitForDatabase.ts"
import { reportServing, sharedMetrics, workPlace } from "./Worker.ts"
import type { WorkPlace } from "./WorkerMessages.ts"
import { maintenanceLayer, pollingLayer, workLayer } from "../compose/WorkLayer.ts"
import { FastShutdown } from "./Signals.ts"

export interface ServeOptions {
  readonly settings: Settings
  /** False if other processes (`cabinet worker`) send deliveries. */
  readonly delivery: boolean
  /** False if other processes run the polls. */
  readonly poll: boolean
  /** The owner that a first start creates; null if the secrets of a first start would not be shown. */
  readonly firstOwner: string | null
}

export interface Served {
  readonly baseUrl: string
  readonly database: CabinetDatabase
  /** The objects created because the cabinet was empty; null for every later start. */
  readonly first: SeededCabinet | null
}

/** Loaded by a server of several workers. */
const workerPool = Effect.promise(() => import("./WorkerPool.ts"))

const notListening = (error: ListenError): StartError => {
  const advice =
    error.code === "address_in_use"
      ? " Stop it, or choose another port with --port or PORT."
      : error.code === "not_permitted"
        ? " Choose a port above 1023 with --port or PORT."
        : " Choose another address with --host or HOST."
  return new StartError({ code: "port_taken", message: error.message + advice })
}

/**
 * Tries a port, and picks a free one for 0: the address must be known before anything listens. If another program takes the
 * port in between, the usual error reports it.
 */
const triedPort = (host: string, port: number): Effect.Effect<number, StartError> =>
  Layer.build(Listener.layer(() => {}, { host, port, drainMillis: 0 })).pipe(
    Effect.map((context) => Context.get(context, Listener).port),
    Effect.scoped,
    Effect.mapError(notListening),
  )

/** A worker's share of the owner's and the reader's connections, so that all workers fit one PostgreSQL. */
const connectionsOf = (workers: number) =>
  workers === 1 ? {} : { maxConnections: 6, maxReaderConnections: Math.max(2, Math.floor(16 / workers)) }

interface OnPlace extends Omit<ServeOptions, "firstOwner"> {
  readonly place: WorkPlace
}

/** How long a server that listens answers requests alone. Its background work opens a dozen sessions at once. */
const REQUESTS_FIRST_MILLIS = 100

/** Serves a database that is already open; a worker starts here. Null for a server of many cabinets. */
const serveOn = (options: OnPlace) =>
  Effect.gen(function* () {
    const begins = yield* Latch.make()
    const cabinet = yield* Effect.provideService(listen(options), BackgroundBegins, begins.await)
    yield* Effect.forkScoped(Effect.andThen(Effect.sleep(REQUESTS_FIRST_MILLIS), begins.open))
    return cabinet
  })

const listen = Effect.fnUntraced(function* ({ settings, delivery, poll, place }: OnPlace) {
  const { database, baseUrl, port, workers } = place
  const { host, metricsPort, serviceDomain } = settings
  const fast = yield* FastShutdown
  const shared = workers > 1
  const own = {
    host,
    port,
    shared,
    metrics: metricsPort === null && (serviceDomain === null || ("here" as const)),
    noticeMillis: () => (fast() ? 0 : settings.drainTime),
  }
  const metrics =
    metricsPort === null
      ? Effect.void
      : Layer.build(Server.metricsLayer({ host, port: metricsPort, shared, drainMillis: 0 })).pipe(
          Effect.mapError(notListening),
        )

  if (serviceDomain !== null) {
    const faces = yield* openTenants({ database, settings, serviceDomain, delivers: delivery, polls: poll })
    yield* metrics
    const all = Server.layer(own).pipe(Layer.provide(Layer.succeedContext(faces)))
    yield* Effect.mapError(Layer.build(all), notListening)
    return null
  }
  const step = yield* startSteps(describeUrl(database.url))
  const options = { ...database, settings, delivers: delivery, accepts: true, ...connectionsOf(workers) }
  const cabinet = yield* step(buildAfresh(cabinetLayer(options)))
  const provided = Layer.succeedContext(cabinet)
  const work = delivery ? Layer.merge(maintenanceLayer, workLayer(settings)) : maintenanceLayer
  yield* Layer.build(Layer.provide(poll ? Layer.merge(work, pollingLayer) : work, provided))

  yield* metrics
  const http = Server.layer(own).pipe(
    Layer.provide(httpLayer({ baseUrl, baseUrlKnown: settings.baseUrl !== null, settings })),
    Layer.provide(provided),
  )
  yield* Effect.mapError(Layer.build(http), notListening)
  return cabinet
})

/** Serves as one of several workers until the scope closes. */
export const serveAsWorker = (options: Omit<ServeOptions, "firstOwner">) =>
  Effect.gen(function* () {
    const shared = yield* Layer.build(sharedMetrics)
    const place = yield* workPlace
    yield* serveOn({ ...options, place }).pipe(
      Effect.provideContext(shared),
      Effect.provideService(StartedProcesses, place.workers),
    )
    yield* reportServing
  })

/** Serves until the scope closes: in this process, or in several workers that this process supervises. */
export const serve = (options: ServeOptions): Effect.Effect<Served, StartError, Scope.Scope> =>
  Effect.gen(function* () {
    const { settings, firstOwner } = options
    const seeds = { key: firstOwner !== null, owner: settings.console === "on" ? firstOwner : null }
    const { host, workers, metricsPort } = settings
    // Checked before a database is created, so that an obstacle shows at once and not after a minute.
    const isNew = settings.databaseUrl !== null || !EmbeddedPostgres.exists(settings.dataDir)
    if (isNew && settings.port !== 0) yield* triedPort(host, settings.port)
    if (isNew && metricsPort !== null) yield* triedPort(host, metricsPort)
    const database = yield* cabinetDatabase(settings, "serve", { waitMillis: START_TIMEOUT_MILLIS })
    const port = settings.port !== 0 && workers === 1 ? settings.port : yield* triedPort(host, settings.port)
    if (workers > 1 && metricsPort !== null) yield* triedPort(host, metricsPort)
    const baseUrl = settings.baseUrl ?? listeningUrl(host, port)
    const place = { database, baseUrl, port, workers }

    const step = yield* startSteps(describeUrl(database.url))
    const seed = seedCabinet(seeds)
    let first: SeededCabinet | null = null
    if (workers > 1) {
      const { startWorkers } = yield* workerPool
      yield* startWorkers(place)
      if (settings.serviceDomain === null) {
        first = yield* step(Effect.provide(seed, cabinetLayer({ ...database, settings, delivers: false })))
      }
    } else {
      const cabinet = yield* serveOn({ ...options, place })
      if (cabinet !== null) first = yield* step(Effect.provideContext(seed, cabinet))
    }
    // Its listening address is right for the only server of a data directory; with several servers on one database,
    // none knows the address of the others.
    const knows = settings.baseUrl !== null || database.dataDir !== null
    if (settings.serviceDomain === null && knows) {
      yield* step(recordBaseUrlAt(database.url, baseUrl))
      // A port that was picked for this run means nothing after it.
      if (settings.baseUrl === null && settings.port === 0) {
        yield* Effect.addFinalizer(() => Effect.ignore(forgetBaseUrlAt(database.url, baseUrl)))
      }
    }
    return { baseUrl, database, first }
  })

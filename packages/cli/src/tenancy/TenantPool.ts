/**
 * Many cabinets in one process, each in its own database. A cabinet is opened on its first request and closed when it
 * has been idle for a while, so that an unused cabinet costs a line in the registry. A cabinet whose database is
 * unavailable responds with 503 and is retried after a moment; the others are not affected.
 *
 * Cabinets share nothing but the process: each has its own layers, connections, caches and counts.
 */
import { background } from "@data-cabinet/core/runtime/Background"
import { knownCabinets } from "@data-cabinet/core/tenancy/KnownCabinets"
import type { RegisteredCabinet } from "@data-cabinet/core/tenancy/RegistryStore"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { CabinetHttp } from "@data-cabinet/http-node/routes/CabinetHttp"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import type { Found } from "@data-cabinet/http-node/routes/Cabinets"
import type { ProgramSignIn } from "@data-cabinet/http-node/session/ExternalSignIn"
import { cabinetUnavailable } from "@data-cabinet/http-node/tenancy/UnknownHost"
import { Clock, Context, type Duration, Effect, Exit, Layer, RcMap, Result, Scope } from "effect"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { cabinetHttpLayer } from "../compose/HttpLayer.ts"
import { openDatabase } from "../compose/OpenDatabase.ts"
import { StartError } from "../error/StartError.ts"
import type { Settings } from "../settings/Settings.ts"
import { maintenanceLayer, pollingLayer, workLayer } from "../compose/WorkLayer.ts"

type Http = CabinetHttp["Service"]

export interface TenantPoolOptions {
  readonly settings: Settings
  readonly delivers: boolean
  readonly polls: boolean
  readonly baseUrlOf: (name: string) => string
  readonly signIn?: ProgramSignIn | undefined
  /** Called when a cabinet has been opened, and every minute while it is open. */
  readonly inUse: (name: string) => Effect.Effect<void>
  /** How long an unused cabinet stays open. Default 5 minutes. */
  readonly idle?: Duration.Input
}

export interface TenantPool {
  /**
   * Undefined for a name that is not registered. A cabinet that is found always responds, with 503 while its database is
   * unavailable.
   */
  readonly find: (name: string) => Promise<Found>
  /** Opens a cabinet and keeps it open until the scope closes. */
  readonly hold: (name: string) => Effect.Effect<void, StoreUnavailable, Scope.Scope>
  readonly isOpen: (name: string) => Effect.Effect<boolean>
  /** The names of the cabinets that are open. */
  readonly open: Effect.Effect<Iterable<string>>
  /** All registered cabinets, as last read; always the same map. */
  readonly known: ReadonlyMap<string, RegisteredCabinet>
  /** Reads the registry's changes; cabinets no longer in it are closed. */
  readonly reload: Effect.Effect<void, StoreUnavailable>
  /** Reads the whole registry, page by page. */
  readonly reloadWhole: Effect.Effect<void, StoreUnavailable>
}

/** Per cabinet: its two writers, one session that listens, and a few for everything else. */
const MAX_CONNECTIONS = 6

const OPEN_TIMEOUT = "8 seconds"
const RETRY_MILLIS = 2_000
const RELOAD_MILLIS = 1_000

const away = (message: string) => new StoreUnavailable({ message, retryAfter: 2, outcomeUnknown: false })

/** For the callers of a cabinet: why it could not be opened, without the names that the log has. */
const reasonOf = (error: { readonly _tag: string; readonly message: string }): string => {
  if (error instanceof StoreUnavailable) return error.message
  if (!(error instanceof StartError)) return "The cabinet's database cannot be reached."
  if (error.words !== undefined) return `The cabinet's database cannot be used: ${error.words}.`
  return error.code === "database_unreachable"
    ? "The cabinet's database cannot be reached."
    : "The cabinet's database cannot be used: the server's log says why."
}

const openOne = (cabinet: RegisteredCabinet, options: TenantPoolOptions) =>
  Effect.gen(function* () {
    const { settings, delivers, polls } = options
    const baseUrl = options.baseUrlOf(cabinet.name)
    const database = yield* openDatabase({ url: cabinet.databaseUrl, baseUrl, cipher: settings.secretKey })
    const services = cabinetLayer({
      url: cabinet.databaseUrl,
      roles: database.roles,
      settings,
      delivers,
      maxConnections: MAX_CONNECTIONS,
    })
    const work = Layer.mergeAll(
      maintenanceLayer,
      delivers ? workLayer(settings) : Layer.empty,
      polls ? pollingLayer : Layer.empty,
    )
    const http = cabinetHttpLayer({ baseUrl, baseUrlKnown: true, settings, signIn: options.signIn })
    // A separate memo map: layers are memoized by identity, and another cabinet's must never be used for this one.
    const memo = Layer.makeMemoMapUnsafe()
    const all = Layer.provide(Layer.merge(http, work), services)
    const context = yield* Layer.buildWithMemoMap(all, memo, yield* Effect.scope)
    yield* background("tenant signal", "1 minute", options.inUse(cabinet.name))
    return Context.get(context, CabinetHttp)
  }).pipe(
    Effect.timeout(OPEN_TIMEOUT),
    Effect.tapError((error) => Effect.logWarning(`The cabinet ${cabinet.name} cannot be opened: ${error.message}`)),
    Effect.mapError((error) => away(reasonOf(error))),
  )

/** Keeps the cabinet open while it handles a request. `get` opens it for a scope. */
const httpOf = (get: Effect.Effect<CabinetHttp["Service"], StoreUnavailable, Scope.Scope>): Http => ({
  mountedAt: "",
  handle: async (request, address) => {
    const scope = Scope.makeUnsafe()
    try {
      const opened = await runResult(Scope.provide(get, scope), request.context)
      if (Result.isFailure(opened)) return cabinetUnavailable(request, opened.failure)
      return await opened.success.handle(request, address)
    } finally {
      await Effect.runPromise(Scope.close(scope, Exit.void))
    }
  },
})

/** Lives as long as the scope; the registry is the one in the server's own database. */
export const tenantPool = Effect.fnUntraced(function* (options: TenantPoolOptions) {
  /** The cabinets that could not be opened: until when they are not tried again, and why. */
  const down = new Map<string, { readonly until: number; readonly error: StoreUnavailable }>()

  // Assigned below: which cabinets are open depends on which are known, and removed ones are closed.
  let close: (name: string) => Effect.Effect<void> = () => Effect.void
  const registry = yield* knownCabinets((name) => {
    down.delete(name)
    return close(name)
  })
  const known = registry.all

  const open = yield* RcMap.make({
    lookup: (name: string) => {
      const cabinet = known.get(name)
      return cabinet === undefined ? Effect.fail(away("The cabinet is no longer served.")) : openOne(cabinet, options)
    },
    idleTimeToLive: options.idle ?? "5 minutes",
  })
  close = (name) => RcMap.invalidate(open, name)

  const get = Effect.fnUntraced(function* (name: string) {
    // Nothing is cached for an unknown name.
    if (!known.has(name)) return yield* away("The cabinet is no longer served.")
    const now = yield* Clock.currentTimeMillis
    const failed = down.get(name)
    if (failed !== undefined && failed.until > now) return yield* failed.error
    const http = yield* RcMap.get(open, name).pipe(
      // A failure would be cached as long as a cabinet is.
      Effect.tapError((error) => {
        down.set(name, { until: now + RETRY_MILLIS, error })
        return RcMap.invalidate(open, name)
      }),
    )
    down.delete(name)
    return http
  })

  const context = yield* Effect.context()

  const many: TenantPool = {
    find: async (name) => {
      // A request for an unknown name costs the database nothing if the registry has just been read.
      const isOld = Context.get(context, Clock.Clock).currentTimeMillisUnsafe() - registry.readAt() > RELOAD_MILLIS
      if (!known.has(name) && isOld) {
        const reloaded = await runResult(registry.refreshIfOlder(RELOAD_MILLIS), context)
        if (Result.isFailure(reloaded)) return Result.fail(reloaded.failure)
      }
      return Result.succeed(known.has(name) ? httpOf(get(name)) : undefined)
    },
    hold: (name) => Effect.asVoid(get(name)),
    isOpen: (name) => RcMap.has(open, name),
    open: RcMap.keys(open),
    known,
    reload: registry.refresh,
    reloadWhole: registry.readWhole,
  }
  return many
})

/**
 * A server of many cabinets embedded in another program, each at its own host name below a domain and in a database of its
 * own: `cabinet serve --service-domain` and `cabinet tenant`, with promises. A cabinet is opened on its first request and
 * closed when it has been idle for a while.
 *
 *   const cabinets = await openCabinets({ databaseUrl, serviceDomain: "cabinets.example.com" })
 *   createServer(cabinets.nodeHandler).listen(8080)
 *   const { baseUrl } = await cabinets.add("orders")
 *   const orders = await cabinets.open("orders")
 *
 * Decision: docs/decisions/0020-one-cabinet-or-many.md
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is loaded for what it refuses
import "./library/Host.ts"
import { Context, Effect, Exit, Scope } from "effect"
import { cabinetDatabase } from "./compose/CabinetDatabase.ts"
import { openTenants } from "./tenancy/OpenTenants.ts"
import { cabinetUrl } from "./tenancy/ResolveTenant.ts"
import type { Cabinet, CloseOptions } from "./library/Cabinet.ts"
import { programSignIn } from "./library/CabinetOptions.ts"
import { manySettingsFrom, type OpenCabinetsOptions } from "./library/CabinetsOptions.ts"
import { type CabinetsApi, cabinetsApi } from "./library/CabinetsApi.ts"
import { type FetchHandler, handlers, type NodeHandler } from "./library/Handlers.ts"
import { GRACE_MILLIS, inScope } from "./library/InScope.ts"
import { runIn } from "./library/RunEffect.ts"
import { InFlight } from "./library/InFlight.ts"
import { openCabinet } from "./openCabinet.ts"

export type { CabinetsApi, Tenant } from "./library/CabinetsApi.ts"
export type { OpenCabinetsOptions } from "./library/CabinetsOptions.ts"

/** An open server of many cabinets. Every call rejects with a `CabinetError`. */
export interface Cabinets extends CabinetsApi {
  /** `(req, res)`; the first label of the request's host names the cabinet. */
  readonly nodeHandler: NodeHandler
  /** `Request => Promise<Response>`, with the same choice of the cabinet. */
  readonly fetchHandler: FetchHandler
  /**
   * All calls of one cabinet, as returned by `openCabinet`, until it is closed; its deliveries are sent like those of the
   * others.
   */
  readonly open: (name: string) => Promise<Cabinet>
  /** As for one cabinet. Cabinets returned by `open` are closed separately. */
  readonly close: (options?: CloseOptions) => Promise<void>
}

const open = Effect.fnUntraced(function* (options: OpenCabinetsOptions, scope: Scope.Closeable) {
  const settings = yield* manySettingsFrom(options)
  const { serviceDomain } = settings
  const delivers = options.delivery !== false
  const database = yield* cabinetDatabase(settings, "create")
  const opened = yield* openTenants({
    database,
    settings,
    serviceDomain,
    delivers,
    polls: delivers,
    signIn: programSignIn(options),
  })
  const inFlight = new InFlight()
  const handling = yield* Effect.provideContext(handlers(inFlight), opened)
  const services = Context.merge(yield* Effect.context(), opened)
  const { find, ...registry } = cabinetsApi(runIn(services, inFlight), (name) => cabinetUrl(settings, name))

  let closing: Promise<void> | undefined
  const close = async (graceMillis: number) => {
    await inFlight.close(graceMillis)
    await Effect.runPromiseWith(services)(Scope.close(scope, Exit.void))
  }
  const cabinets: Cabinets = {
    ...handling,
    ...registry,
    open: async (name) => {
      const { databaseUrl, baseUrl } = await find(name)
      const { serviceDomain: _, ...same } = options
      return openCabinet({ ...same, databaseUrl, baseUrl, delivery: false })
    },
    close: ({ graceMillis = GRACE_MILLIS } = {}) => (closing ??= close(graceMillis)),
  }
  return cabinets
})

/** Opens the server's own database, which holds the registry of cabinets, and brings it up to date. */
export const openCabinets = (options: OpenCabinetsOptions): Promise<Cabinets> =>
  inScope(options.log, (scope) => open(options, scope))

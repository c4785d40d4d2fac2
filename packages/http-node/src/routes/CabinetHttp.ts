/** The HTTP side of one cabinet: its routes, closed over its services. */
import { Context, Effect, Layer } from "effect"
import { apiRoutes } from "./ApiRoutes.ts"
import { withRateHeaders } from "../api/WithRateHeaders.ts"
import { acknowledgeEvents } from "../feed/AcknowledgeEndpoint.ts"
import { uploadRoutes } from "../file/UploadRoute.ts"
import { intakeRoutes } from "../intake/IntakeRoutes.ts"
import { Management } from "./Management.ts"
import { manageErrorResponse } from "../manage/ManageError.ts"
import { type ApiName, crossOrigin } from "../server/CrossOrigin.ts"
import { HttpSettings, ConsoleRoutes } from "../server/HttpSettings.ts"
import { observe } from "../server/Observe.ts"
import type { Response, Request } from "../server/Request.ts"
import { rootRoute } from "./RootRoute.ts"
import { type Address, routeTable } from "../server/Route.ts"
import { noSuchEndpoint } from "../server/ApiError.ts"

export class CabinetHttp extends Context.Service<
  CabinetHttp,
  {
    /** The path of the base address, without a trailing slash; empty for a cabinet at the root. */
    readonly mountedAt: string
    /** Handles a request addressed to this cabinet. A fault is logged under an id and becomes a 500. */
    readonly handle: (request: Request, address: Address) => Promise<Response>
  }
>()("@data-cabinet/http-node/routes/CabinetHttp") {
  static readonly layer = Layer.effect(
    CabinetHttp,
    Effect.gen(function* () {
      const settings = yield* HttpSettings
      const mountedAt = new URL(settings.baseUrl).pathname.replace(/\/$/, "")
      const screens = yield* ConsoleRoutes
      // To add an interface, add one more Effect of routes here; its ports become requirements of this layer.
      const find = routeTable(
        [
          ...(yield* apiRoutes),
          ...(yield* intakeRoutes),
          ...(yield* uploadRoutes),
          ...(yield* Management),
          ...screens,
          rootRoute(settings, screens.length > 0),
        ],
        mountedAt,
      )
      const counted = yield* withRateHeaders
      const opened = crossOrigin(settings.apiOrigins ?? [])
      const context = yield* Effect.context()
      return CabinetHttp.of({
        mountedAt,
        handle: async (request, address) => {
          const match = find(address)
          if (match !== undefined) {
            const target = { params: match.params, query: address.query }
            const work = () => observe(match.route, request, target, context)
            const api = apiOf(match.route.path)
            return api === null ? work() : opened(api, request, work)
          }
          if (OF_THE_API.test(address.path)) return opened("read", request, () => counted(request, noSuchEndpoint))
          return OF_MANAGEMENT.test(address.path)
            ? opened("management", request, async () => noSuchManagement)
            : noSuchEndpoint
        },
      })
    }),
  )
}

const apiOf = (path: string): ApiName | null => {
  if (path === acknowledgeEvents.path) return "acknowledgement"
  if (path.startsWith("/api/v1")) return "read"
  return path.startsWith("/manage/v1") ? "management" : null
}

/** An API address, wherever the API is mounted. */
const OF_THE_API = /\/api\/v1(\/|$)/
const OF_MANAGEMENT = /\/manage(\/|$)/

const noSuchManagement = manageErrorResponse({
  code: "no_such_endpoint",
  message: "Unknown endpoint. The management API is described at /manage/v1/docs.",
})

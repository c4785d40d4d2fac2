/** Settings of one cabinet's HTTP routes, provided where the server is composed. */
import { Context } from "effect"
import type { TrustedProxies } from "./ClientAddress.ts"
import type { Route } from "./Route.ts"

export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    /** The cabinet's address as clients see it, without a trailing slash; it may have a path. */
    readonly baseUrl: string
    /** False if it is only the server's listening address and was not set; absent: true. */
    readonly baseUrlKnown?: boolean
    /** The target of `/api/v1/docs`; null for the bundled reference page. */
    readonly docsUrl: string | null
    /** The origins whose pages may use the APIs; absent: only the cabinet's own. */
    readonly apiOrigins?: ReadonlyArray<string>
    /** The proxies trusted to report a client's address. */
    readonly trustedProxies: TrustedProxies
  }
>()("@data-cabinet/http-node/server/HttpSettings") {}

/** Where the console's screens join a cabinet's routes. Empty for a cabinet that is composed without it. */
export const ConsoleRoutes = Context.Reference<ReadonlyArray<Route>>("@data-cabinet/http-node/server/ConsoleRoutes", {
  defaultValue: () => [],
})

/** The path of the console's first screen, below the base address. */
export const CONSOLE_PATH = "/console/"

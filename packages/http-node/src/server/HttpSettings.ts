/** What the HTTP faces of one cabinet are told by whoever composes them. */
import { Context } from "effect"
import type { TrustedProxies } from "../limit/ClientAddress.ts"

export class HttpSettings extends Context.Service<
  HttpSettings,
  {
    /** The cabinet's address as clients see it, without a slash at its end; it may have a path. */
    readonly baseUrl: string
    /** Where `/api/v1/docs` leads; null for the bundled reference page. */
    readonly docsUrl: string | null
    /** The proxies whose word about a client's address is taken. */
    readonly trustedProxies: TrustedProxies
  }
>()("@data-cabinet/http-node/server/HttpSettings") {}

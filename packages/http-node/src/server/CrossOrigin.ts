/**
 * Lets scripts on pages of the named origins use the read API and the management API, by CORS. Only credentials that a
 * script sends itself count, a key or a token: no response allows credentials that the browser adds, and the management
 * API's are readable only for a request with `Authorization: Bearer`, which never counts as a login elsewhere. Other
 * origins get the same as without this: responses that no script of theirs can read, and 405 for a preflight.
 */
import type { Response, Request } from "./Request.ts"

/** Which API of a cabinet a request is for. The read API's one endpoint that writes is named apart, for its method. */
export type ApiName = "read" | "acknowledgement" | "management"

type Handle = () => Promise<Response>

/** Handles a request of one of the APIs as `handle` does, and adds the headers that a browser needs. */
export type CrossOrigin = (api: ApiName, request: Request, handle: Handle) => Promise<Response>

const METHODS: Readonly<Record<ApiName, string>> = {
  read: "GET, HEAD",
  acknowledgement: "POST",
  management: "GET, HEAD, POST, PUT, PATCH, DELETE",
}

const SENT = "Authorization, X-Api-Key, Content-Type, Idempotency-Key, Accept, Prefer, Last-Event-ID, X-Request-Id"

const SHOWN =
  "Retry-After, X-RateLimit-Limit, X-RateLimit-Remaining, X-Request-Id, Content-Disposition, Idempotent-Replay, Link, Preference-Applied"

/** How long a browser may remember the response to a preflight, in seconds; most cap it at two hours. */
const MAX_AGE = "7200"

/** Without an origin it does nothing, and costs nothing. */
export const crossOrigin = (origins: ReadonlyArray<string>): CrossOrigin => {
  if (origins.length === 0) return (_api, _request, handle) => handle()
  const known = new Set(origins)
  return async (api, request, handle) => {
    const { origin, authorization } = request.headers
    const isKnown = origin !== undefined && known.has(origin)
    if (isKnown && isPreflight(request)) return allowed(origin, api)
    const response = await handle()
    const isReadable = isKnown && (api !== "management" || isBearer(authorization))
    const opening = isReadable ? { "access-control-allow-origin": origin, "access-control-expose-headers": SHOWN } : {}
    return { ...response, headers: { ...response.headers, ...opening, vary: varyingBy(response.headers["vary"]) } }
  }
}

/** Whether an `Authorization` header has the scheme of tokens, even without one. */
export const isBearer = (authorization: string | undefined): authorization is string =>
  authorization !== undefined && /^bearer(?: |$)/i.test(authorization)

const isPreflight = ({ method, headers }: Request): boolean =>
  method === "OPTIONS" && headers["access-control-request-method"] !== undefined

const allowed = (origin: string, api: ApiName): Response => ({
  status: 204,
  headers: {
    "access-control-allow-origin": origin,
    "access-control-allow-methods": METHODS[api],
    "access-control-allow-headers": SENT,
    "access-control-max-age": MAX_AGE,
    vary: "Origin",
  },
  body: null,
})

const varyingBy = (others: string | undefined): string => (others === undefined ? "Origin" : `${others}, Origin`)

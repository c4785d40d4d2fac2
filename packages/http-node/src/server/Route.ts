/**
 * A route: an address pattern below a cabinet's base address, and its handler for every method.
 *
 * Effect's HttpRouter is not used: it folds case and slashes, cuts parameters at 100 characters, has no 405, and
 * expects a request's services in its context, while one server here serves many cabinets. A route closes over its
 * cabinet's services instead, so no context has to be built for a request.
 */
import type { LoggedFault } from "./Fault.ts"
import type { Response, Request } from "./Request.ts"

/** The address of a request, matched to a route. Nothing is decoded yet: the route decides about malformed escapes. */
export interface Target {
  /** The segments in place of the pattern's `{name}`, as sent, in order. */
  readonly params: ReadonlyArray<string>
  /** The part after the `?`, as sent; empty without one. */
  readonly query: string
}

export interface Route {
  /**
   * For example `/api/v1/sources/{source_id}`: `{name}` matches one non-empty segment. A last `{...}` matches everything
   * below, where no other pattern matches.
   */
  readonly path: `/${string}`
  readonly handle: (request: Request, target: Target) => Promise<Response>
  /** The response when `handle` rejects, from the part of the fault that the client may see. */
  readonly fault: (fault: LoggedFault, request: Request) => Response
}

/** The parts of a request's address, not decoded. */
export interface Address {
  readonly path: string
  /** The path's segments, between slashes; the first is empty. */
  readonly segments: ReadonlyArray<string>
  /** The part after the `?`; empty without one. */
  readonly query: string
}

/** Unescaped bytes are read as UTF-8, not as Node's Latin-1. */
export const addressOf = (url: string): Address => {
  const plain = /[\u0080-\u00ff]/.test(url) ? Buffer.from(url, "latin1").toString("utf8") : url
  const hash = plain.indexOf("#")
  const whole = hash < 0 ? plain : plain.slice(0, hash)
  const mark = whole.indexOf("?")
  const path = mark < 0 ? whole : whole.slice(0, mark)
  return { path, segments: path.split("/"), query: mark < 0 ? "" : whole.slice(mark + 1) }
}

/** Ends a pattern that matches what no other does. */
const REST = "{...}"

export interface Match<R = Route> {
  readonly route: R
  readonly params: ReadonlyArray<string>
}

/**
 * Finds the route of an address: exact in case, slashes and number of segments. Routes mounted below a path of their own
 * match with and without it: Express strips it from the address; node:http, Fastify and most proxies keep it.
 */
export const routeTable = <R extends Pick<Route, "path">>(
  routes: ReadonlyArray<R>,
  mountedAt = "",
): ((address: Address) => Match<R> | undefined) => {
  const byLength = new Map<number, Array<readonly [R, ReadonlyArray<string>]>>()
  for (const route of routes) {
    if (route.path.endsWith(`/${REST}`)) continue
    const pattern = route.path.split("/")
    const same = byLength.get(pattern.length) ?? []
    byLength.set(pattern.length, [...same, [route, pattern]])
  }
  const rests = routes.flatMap((route) => (route.path.endsWith(`/${REST}`) ? [route] : []))
  const find = (segments: ReadonlyArray<string>): Match<R> | undefined => {
    for (const [route, pattern] of byLength.get(segments.length) ?? []) {
      const params = matchSegments(pattern, segments)
      if (params !== undefined) return { route, params }
    }
    const route = rests.find(({ path }) => `${segments.join("/")}/`.startsWith(path.slice(0, -REST.length)))
    return route === undefined ? undefined : { route, params: [] }
  }
  const depth = mountedAt.split("/").length - 1
  const isBelow = ({ path }: Address) => depth > 0 && path.startsWith(`${mountedAt}/`)
  return (address) =>
    find(address.segments) ?? (isBelow(address) ? find(["", ...address.segments.slice(depth + 1)]) : undefined)
}

const matchSegments = (
  pattern: ReadonlyArray<string>,
  segments: ReadonlyArray<string>,
): ReadonlyArray<string> | undefined => {
  const params: Array<string> = []
  for (let i = 0; i < pattern.length; i++) {
    const expected = pattern[i]!
    const actual = segments[i]!
    if (expected[0] === "{") {
      if (actual === "") return undefined
      params.push(actual)
    } else if (expected !== actual) return undefined
  }
  return params
}

/**
 * A route: an address pattern below a cabinet's base address, and what answers there, whatever the method.
 *
 * Effect's HttpRouter is not used: it folds case and slashes, ends parameters at 100 characters, has no 405, and wants
 * the services of a request in its context, while one server here answers for many cabinets. A route closes over its
 * cabinet's services instead, so that a request costs no context to be built.
 */
import type { Answer, Request } from "./Request.ts"

/** Where a request is addressed. Nothing is decoded yet: what a malformed escape means is for the route to say. */
export interface Target {
  /** The segments that stand where the pattern has `{name}`, as sent, in order. */
  readonly params: ReadonlyArray<string>
  /** What follows the `?`, as sent; empty without one. */
  readonly query: string
}

export interface Route {
  /** For example `/api/v1/sources/{source_id}`: `{name}` stands for one segment that is not empty. */
  readonly path: `/${string}`
  readonly handle: (request: Request, target: Target) => Promise<Answer>
  /** The answer when `handle` rejects. The fault is logged under this id, which is all that the client may see of it. */
  readonly fault: (correlationId: string, request: Request) => Answer
}

/** A request's address in its parts. Nothing of it is decoded. */
export interface Address {
  readonly path: string
  /** Of the path, between its slashes; the first is empty. */
  readonly segments: ReadonlyArray<string>
  /** What follows the `?`; empty without one. */
  readonly query: string
}

/** Bytes that were sent unescaped are read as UTF-8, not as Node's Latin-1. */
export const addressOf = (url: string): Address => {
  const plain = /[\u0080-\u00ff]/.test(url) ? Buffer.from(url, "latin1").toString("utf8") : url
  const hash = plain.indexOf("#")
  const whole = hash < 0 ? plain : plain.slice(0, hash)
  const mark = whole.indexOf("?")
  const path = mark < 0 ? whole : whole.slice(0, mark)
  return { path, segments: path.split("/"), query: mark < 0 ? "" : whole.slice(mark + 1) }
}

export interface Match {
  readonly route: Route
  readonly params: ReadonlyArray<string>
}

/**
 * Finds the route of an address: exact in case, slashes and number of segments. Where the routes are mounted below a path of
 * their own, with and without it: Express cuts it off the address, node:http, Fastify and most proxies leave it on.
 */
export const routeTable = (routes: ReadonlyArray<Route>, mountedAt = ""): ((address: Address) => Match | undefined) => {
  const byLength = new Map<number, Array<readonly [Route, ReadonlyArray<string>]>>()
  for (const route of routes) {
    const pattern = route.path.split("/")
    const same = byLength.get(pattern.length) ?? []
    byLength.set(pattern.length, [...same, [route, pattern]])
  }
  const find = (segments: ReadonlyArray<string>): Match | undefined => {
    for (const [route, pattern] of byLength.get(segments.length) ?? []) {
      const params = matchSegments(pattern, segments)
      if (params !== undefined) return { route, params }
    }
    return undefined
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

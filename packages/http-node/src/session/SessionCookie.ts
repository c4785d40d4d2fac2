/**
 * The cookie of a session. At the root of an https address it has the prefix `__Host-`, which no other host of the domain
 * can set. A cookie with that prefix has the path `/`, so other programs of the host would receive a session below a path.
 * There, the session's own cookie has `__Secure-` and the path, and another one with `__Host-` holds its digest: a
 * session that another host of the domain planted has none, and signs nobody in (login CSRF).
 *
 * Decision: docs/decisions/0090-a-session-is-its-hosts-and-its-own-link-no-proof.md
 */
import { hash } from "node:crypto"
import type { LiveSession } from "@data-cabinet/core/person/Person"
import type { Request } from "../server/Request.ts"

export interface SessionCookie {
  /** The value sent; null if it is missing, planted, or sent twice, which browsers never do with our cookie. */
  readonly read: (headers: Request["headers"]) => string | null
  /** The headers that set it. */
  readonly set: (session: LiveSession & { readonly secret: string }) => ReadonlyArray<string>
  readonly clear: ReadonlyArray<string>
}

const valuesOf = (name: string, { cookie }: Request["headers"]): ReadonlyArray<string> =>
  (cookie ?? "").split(";").flatMap((pair) => {
    const [key, ...value] = pair.trim().split("=")
    return key === name ? [value.join("=")] : []
  })

const valueOf =
  (name: string) =>
  (headers: Request["headers"]): string | null => {
    const sent = valuesOf(name, headers)
    return sent.length === 1 ? sent[0]! : null
  }

/**
 * The name of a cookie that only this host can set. Its path is `/`, so the name distinguishes cabinets below different paths
 * of a host, which must not replace one another's.
 */
const hostName = (kept: string, path: string): string =>
  `__Host-${kept}${path === "/" ? "" : `-${Buffer.from(path).toString("base64url")}`}`

const formOf = (baseUrl: string) => {
  const { protocol, pathname } = new URL(baseUrl)
  const path = pathname.endsWith("/") ? pathname : `${pathname}/`
  const isSecure = protocol === "https:"
  return { path, isSecure, rest: `HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}` }
}

/**
 * A cookie for a short time, for the addresses below a path of the console. Lax: the browser may return from the site of a
 * provider.
 */
const briefCookie = (baseUrl: string, kept: string, below: string) => {
  const { path, isSecure, rest } = formOf(baseUrl)
  const name = `${isSecure ? "__Secure-" : ""}${kept}`
  return {
    read: valueOf(name),
    set: (text: string, seconds: number): string =>
      `${name}=${text}; Max-Age=${seconds}; Path=${path}${below}; ${rest}`,
    clear: `${name}=; Max-Age=0; Path=${path}${below}; ${rest}`,
  }
}

/**
 * Holds the state of a sign-in with a provider. At an https address it has the prefix `__Host-`, below a path as well: it is
 * sealed, so that other programs of the host may receive it. Without the prefix, another host of the domain could plant its own
 * attempt, whose response would then sign the visitor in as somebody else (login CSRF).
 */
export const attemptCookie = (baseUrl: string) => {
  const { path, isSecure, rest } = formOf(baseUrl)
  if (!isSecure) return briefCookie(baseUrl, "cabinet-sign-in", "console/sign-in/")
  const name = hostName("cabinet-sign-in", path)
  return {
    read: valueOf(name),
    set: (text: string, seconds: number): string => `${name}=${text}; Max-Age=${seconds}; Path=/; ${rest}`,
    clear: `${name}=; Max-Age=0; Path=/; ${rest}`,
  }
}

/** Holds a form, sealed, whose session had ended, until its sender has signed in again. */
export const formCookie = (baseUrl: string) => briefCookie(baseUrl, "cabinet-form", "console/")

/** Names the act that was just done, for the screen that it leads to. */
export const doneCookie = (baseUrl: string) => briefCookie(baseUrl, "cabinet-done", "console/")

const YEAR_SECONDS = 31_536_000

/**
 * Recognises a browser in which a person signed in before (`KnownBrowser`), for the console alone. Signing out keeps
 * it.
 */
export const browserCookie = (baseUrl: string) => {
  const { path, isSecure, rest } = formOf(baseUrl)
  const name = `${isSecure ? "__Secure-" : ""}cabinet-browser`
  return {
    read: valueOf(name),
    set: (text: string): string => `${name}=${text}; Max-Age=${YEAR_SECONDS}; Path=${path}console/; ${rest}`,
  }
}

/** Differs from the fingerprint in the database: other programs of the host receive it. */
const digestOf = (secret: string): string => hash("sha256", `session of this host ${secret}`, "base64url")

export const sessionCookie = (baseUrl: string): SessionCookie => {
  const { path, isSecure, rest } = formOf(baseUrl)
  const isBound = isSecure && path !== "/"
  const name = isBound ? "__Secure-cabinet" : isSecure ? "__Host-cabinet" : "cabinet"
  const digestName = hostName("cabinet", path)
  const both = (secret: string, digest: string, seconds: number): ReadonlyArray<string> => [
    `${name}=${secret}; Max-Age=${seconds}; Path=${path}; ${rest}`,
    ...(isBound ? [`${digestName}=${digest}; Max-Age=${seconds}; Path=/; ${rest}`] : []),
  ]
  const readBound = (headers: Request["headers"]): string | null => {
    const digest = valueOf(digestName)(headers)
    // A planted cookie beside the genuine one signs nobody out either.
    return digest === null ? null : (valuesOf(name, headers).find((secret) => digestOf(secret) === digest) ?? null)
  }
  return {
    read: isBound ? readBound : valueOf(name),
    set: ({ secret, createdAt, expiresAt }) => {
      const seconds = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
      return both(secret, digestOf(secret), seconds)
    },
    clear: both("", "", 0),
  }
}

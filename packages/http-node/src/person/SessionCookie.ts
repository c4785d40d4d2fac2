/**
 * The cookie of a session. At the root of an https address it has the prefix `__Host-`, which no other host of the domain
 * can set; below a path `__Secure-`.
 */
import type { LiveSession } from "@data-cabinet/core/person/Person"
import type { Request } from "../server/Request.ts"

export interface SessionCookie {
  /** The value sent; null if it is missing or sent twice, which browsers never do with our cookie. */
  readonly read: (headers: Request["headers"]) => string | null
  /** The header that sets it. */
  readonly set: (session: LiveSession & { readonly secret: string }) => string
  readonly clear: string
}

const valueOf =
  (name: string) =>
  ({ cookie }: Request["headers"]): string | null => {
    const sent = (cookie ?? "").split(";").flatMap((pair) => {
      const [key, ...value] = pair.trim().split("=")
      return key === name ? [value.join("=")] : []
    })
    return sent.length === 1 ? sent[0]! : null
  }

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
  // Cabinets below different paths of a host do not replace one another's attempts.
  const name = `__Host-cabinet-sign-in${path.slice(0, -1).replaceAll(/[^A-Za-z0-9]/g, "-")}`
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

export const sessionCookie = (baseUrl: string): SessionCookie => {
  const { path, isSecure, rest } = formOf(baseUrl)
  const name = `${isSecure ? (path === "/" ? "__Host-" : "__Secure-") : ""}cabinet`
  const attributes = `Path=${path}; ${rest}`
  return {
    read: valueOf(name),
    set: ({ secret, createdAt, expiresAt }) => {
      const seconds = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
      return `${name}=${secret}; Max-Age=${seconds}; ${attributes}`
    },
    clear: `${name}=; Max-Age=0; ${attributes}`,
  }
}

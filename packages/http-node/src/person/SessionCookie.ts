/**
 * The cookie of a session. At the root of an https address it has the prefix `__Host-`, which no other host of the domain
 * can set; below a path `__Secure-`.
 */
import type { LiveSession } from "@data-cabinet/core/person/Person"
import type { Request } from "../server/Request.ts"

export interface SessionCookie {
  /** The value sent; null without one, and for one that was sent twice, which no browser of ours does. */
  readonly read: (headers: Request["headers"]) => string | null
  /** The header that sets it. */
  readonly set: (session: LiveSession & { readonly secret: string }) => string
  readonly clear: string
}

export const sessionCookie = (baseUrl: string): SessionCookie => {
  const { protocol, pathname } = new URL(baseUrl)
  const path = pathname.endsWith("/") ? pathname : `${pathname}/`
  const isSecure = protocol === "https:"
  const name = `${isSecure ? (path === "/" ? "__Host-" : "__Secure-") : ""}cabinet`
  const attributes = `Path=${path}; HttpOnly; SameSite=Lax${isSecure ? "; Secure" : ""}`
  return {
    read: ({ cookie }) => {
      const sent = (cookie ?? "").split(";").flatMap((pair) => {
        const [key, ...value] = pair.trim().split("=")
        return key === name ? [value.join("=")] : []
      })
      return sent.length === 1 ? sent[0]! : null
    },
    set: ({ secret, createdAt, expiresAt }) => {
      const seconds = Math.round((Date.parse(expiresAt) - Date.parse(createdAt)) / 1000)
      return `${name}=${secret}; Max-Age=${seconds}; ${attributes}`
    },
    clear: `${name}=; Max-Age=0; ${attributes}`,
  }
}

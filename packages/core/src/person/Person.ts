/** People who manage a cabinet, and the sessions in which they do. Times are RFC 3339 in UTC. */
import type { PersonRole } from "../key/Role.ts"
import type { KnownBrowser } from "./KnownBrowser.ts"

/** What identifies a person: a proxy's header, the embedding program, or an OpenID Connect provider. */
export const ISSUERS = ["proxy", "program", "oidc"] as const
/** One of `ISSUERS`. */
export type Issuer = (typeof ISSUERS)[number]

export interface Person {
  readonly id: number
  readonly name: string
  readonly role: PersonRole
  /** Null for a person who signs in here, by link or password. */
  readonly issuer: Issuer | null
  readonly hasPassword: boolean
  readonly createdAt: string
  /** Null for a person who has never signed in. */
  readonly signedInAt: string | null
  /** When an unused link expires; null without one. */
  readonly linkExpiresAt: string | null
  /** Null unless removed. Only removed people of an issuer stay listed: otherwise the issuer would bring them back. */
  readonly removedAt: string | null
}

/** A person to invite. */
export interface NewPerson {
  readonly name: string
  readonly role: PersonRole
}

/** The changes to a person; absent fields stay unchanged. */
export interface PersonChange {
  readonly name?: string | undefined
  readonly role?: PersonRole | undefined
}

/** A one-time link at the time of issue, the only time at which its secret is known. */
export interface IssuedLink {
  readonly person: Person
  readonly secret: string
  readonly expiresAt: string
}

/** How a session was begun. */
export const SIGN_IN_METHODS = ["link", "password", "oidc"] as const
/** One of `SIGN_IN_METHODS`. */
export type SignInMethod = (typeof SIGN_IN_METHODS)[number]

/** A session as listed. */
export interface Session {
  readonly id: number
  readonly personId: number
  readonly personName: string
  readonly method: SignInMethod
  readonly createdAt: string
  readonly lastSeenAt: string
  readonly expiresAt: string
  /** The client's address and browser when it was begun. */
  readonly client: string | null
  readonly userAgent: string | null
}

/** A valid session, with its person. */
export interface LiveSession extends Session {
  readonly role: PersonRole
  /** Whole seconds since it began, by the database's clock, when it was looked up. */
  readonly ageSeconds: number
}

/** Where a person signs in from. */
export interface SignInOrigin {
  readonly client: string | null
  readonly userAgent: string | null
  readonly requestId: string | null
  /** Null for a browser in which nobody has signed in yet. */
  readonly browser: KnownBrowser | null
}

/** The cookie's value, at the only time at which it is known. */
export interface StartedSession extends LiveSession {
  readonly secret: string
}

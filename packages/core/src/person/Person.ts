/** People who manage a cabinet, and the sessions in which they do. Times are RFC 3339 in UTC. */
import * as Shape from "../json/Shape.ts"
import { PERSON_ROLES, type PersonRole } from "../key/Role.ts"
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

const members = {
  id: Shape.id("Their id."),
  name: Shape.text("Their name."),
  role: Shape.oneOf(PERSON_ROLES, "What they may do."),
  issuer: Shape.orNull(Shape.oneOf(ISSUERS, "Who signs them in; null: they sign in here.")),
  hasPassword: Shape.flag("Whether they have set a password."),
  createdAt: Shape.time("When they were added."),
  signedInAt: Shape.orNull(Shape.time("When they signed in last; null: never.")),
  linkExpiresAt: Shape.orNull(Shape.time("Until when an unused link is valid; else null.")),
  removedAt: Shape.orNull(Shape.time("When they were removed; else null.")),
} satisfies Shape.Members<Person>

/** A person as the APIs show it. */
export const personShape = Shape.named("Person", Shape.object<Person>("A person who manages the cabinet.", members))

/** A person with a one-time link. */
export interface InvitedPerson extends Person {
  readonly link: string
  readonly linkExpiresAt: string
}

/** An invited person as the APIs show it. */
export const invitedPersonShape = Shape.named(
  "InvitedPerson",
  Shape.object<InvitedPerson>("A person with a one-time link.", {
    ...members,
    linkExpiresAt: Shape.time("Until when it is valid."),
    link: Shape.text("The one-time link, shown only in this response."),
  }),
)

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

/** Where a link leads. Its secret is in the fragment, which browsers send to no server and proxies write to no log. */
export const linkUrl = (baseUrl: string, secret: string): string => `${baseUrl}/console/welcome#${secret}`

/** A link as shown once; `link` is its URL. */
export const invitedPerson = ({ person, expiresAt }: IssuedLink, link: string): InvitedPerson => ({
  ...person,
  link,
  linkExpiresAt: expiresAt,
})

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

interface ShownSession extends Omit<Session, "personId" | "personName"> {
  readonly person: Pick<Person, "id" | "name">
}

/** A session as the APIs show it. */
export const sessionShape = Shape.derived(
  ({ personId: id, personName: name, ...session }: Session): ShownSession => ({ ...session, person: { id, name } }),
  Shape.named(
    "Session",
    Shape.object<ShownSession>("A session of a person.", {
      id: Shape.id("The session's id."),
      person: Shape.object<ShownSession["person"]>("Whose it is.", {
        id: Shape.id("The person's id."),
        name: Shape.text("The person's name."),
      }),
      method: Shape.oneOf(SIGN_IN_METHODS, "How the person signed in."),
      createdAt: Shape.time("When it began."),
      lastSeenAt: Shape.time("Its last request, to the minute."),
      expiresAt: Shape.time("When it ends at the latest; 12 hours without a request also end it."),
      client: Shape.orNull(Shape.text("The client address at sign-in.")),
      userAgent: Shape.orNull(Shape.text("The browser at sign-in.")),
    }),
  ),
)

/** A valid session, with its person. */
export interface LiveSession extends Session {
  readonly role: PersonRole
  /** Whole seconds since it began, by the database's clock, when it was looked up. */
  readonly ageSeconds: number
  /** Whether it began with a link that the person issued for themselves. */
  readonly isSelfIssued: boolean
}

/** Where a person signs in from. */
export interface SignInOrigin {
  readonly client: string | null
  readonly userAgent: string | null
  readonly requestId: string | null
  /** Null for a browser in which nobody has signed in. */
  readonly browser: KnownBrowser | null
}

/** The cookie's value, at the only time at which it is known. */
export interface StartedSession extends LiveSession {
  readonly secret: string
}

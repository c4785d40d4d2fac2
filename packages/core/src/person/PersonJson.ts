/** People and sessions as JSON, without secrets. */
import type { Person, Session } from "./Person.ts"

export const personJson = (person: Person) => ({
  id: person.id,
  name: person.name,
  role: person.role,
  issuer: person.issuer,
  has_password: person.hasPassword,
  created_at: person.createdAt,
  signed_in_at: person.signedInAt,
  link_expires_at: person.linkExpiresAt,
  removed_at: person.removedAt,
})

/** A session as JSON. */
export const sessionJson = (session: Session) => ({
  id: session.id,
  person: { id: session.personId, name: session.personName },
  method: session.method,
  created_at: session.createdAt,
  last_seen_at: session.lastSeenAt,
  expires_at: session.expiresAt,
  client: session.client,
  user_agent: session.userAgent,
})

/** The URL of a link. Its secret is in the fragment, which browsers send to no server and proxies log nowhere. */
export const linkUrl = (baseUrl: string, secret: string): string => `${baseUrl}/console/welcome#${secret}`

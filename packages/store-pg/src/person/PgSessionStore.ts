/** Sessions in PostgreSQL: only the fingerprint of the cookie is kept. */
import type { PersonRole } from "@data-cabinet/core/key/Role"
import type { LiveSession, SignInMethod } from "@data-cabinet/core/person/Person"
import { type NewSession, SessionStore } from "@data-cabinet/core/person/SessionStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import { orUnavailable } from "../connection/StoreFailure.ts"

interface SessionRow {
  readonly id: string
  readonly person_id: string
  readonly name: string
  readonly role: PersonRole
  readonly method: SignInMethod
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
  readonly client: string | null
  readonly user_agent: string | null
  readonly age_seconds: number
  readonly self_issued: boolean
}

/** `seen`: when it was last used. */
const columns = (
  seen = "s.last_seen_at",
): string => `s.id::text AS id, p.id::text AS person_id, p.name, p.role, s.method,
  cabinet.rfc3339(s.created_at) AS created_at, cabinet.rfc3339(${seen}) AS last_seen_at,
  cabinet.rfc3339(s.expires_at) AS expires_at, s.client, s.user_agent,
  floor(extract(epoch FROM cabinet.now() - s.created_at))::float8 AS age_seconds, s.self_issued`

const COLUMNS = columns()

/** It ends after half a day without a request, and after thirty days at the latest. */
const LIVE = "s.expires_at > n.at AND s.last_seen_at > n.at - interval '12 hours' AND p.removed_at IS NULL"
const NOW = "(SELECT cabinet.now() AS at) n"

/** Creates a session of the person in `who`, and deletes their expired ones. $1..$5: the session. */
const begin = (who: string): string => `
  WITH ${who}, dead AS (
    DELETE FROM cabinet.session d USING who w, ${NOW}
    WHERE d.person_id = w.id AND (d.expires_at <= n.at OR d.last_seen_at <= n.at - interval '12 hours')
  ), signed AS (
    UPDATE cabinet.person p SET signed_in_at = cabinet.now(), signed_in_from = coalesce($5, p.signed_in_from)
    FROM who w WHERE p.id = w.id RETURNING p.*
  ), s AS (
    INSERT INTO cabinet.session (person_id, fingerprint, method, client, user_agent, self_issued)
    SELECT w.id, $1, $2, $3, $4, w.self_issued FROM signed p JOIN who w ON w.id = p.id RETURNING *
  )
  SELECT ${COLUMNS} FROM s JOIN signed p ON p.id = s.person_id`

const BEGIN = begin(
  "who AS (SELECT id, false AS self_issued FROM cabinet.person WHERE id = $6 AND removed_at IS NULL AND (issuer IS NULL OR issuer = 'oidc') FOR UPDATE)",
)

/** $6: the link. Deleted in the same statement: of two who use it at once, one finds nothing. */
const CLAIM = begin(`used AS (
    DELETE FROM cabinet.sign_in_link l WHERE l.fingerprint = $6 RETURNING l.person_id, l.self_issued, l.expires_at > cabinet.now() AS valid
  ), who AS (SELECT person_id AS id, self_issued FROM used WHERE valid)`)

/** The use is written at most once a minute; the returned session includes it. */
const FIND = `
  WITH found AS (
    SELECT s.*, n.at FROM cabinet.session s JOIN cabinet.person p ON p.id = s.person_id, ${NOW}
    WHERE s.fingerprint = $1 AND ${LIVE}
  ), seen AS (
    UPDATE cabinet.session u SET last_seen_at = f.at FROM found f
    WHERE u.id = f.id AND u.last_seen_at < f.at - interval '1 minute' RETURNING u.last_seen_at)
  SELECT ${columns("coalesce((SELECT last_seen_at FROM seen), s.last_seen_at)")} FROM found s JOIN cabinet.person p ON p.id = s.person_id`

const PEEK = `
  SELECT ${COLUMNS} FROM cabinet.session s JOIN cabinet.person p ON p.id = s.person_id, ${NOW}
  WHERE s.fingerprint = $1 AND ${LIVE}`

const LIST = `
  SELECT ${COLUMNS} FROM cabinet.session s JOIN cabinet.person p ON p.id = s.person_id, ${NOW}
  WHERE ($1::int8 IS NULL OR p.id = $1) AND ($2::int8 IS NULL OR s.id < $2) AND ${LIVE} ORDER BY s.id DESC LIMIT $3::int`

const END = "DELETE FROM cabinet.session WHERE id = $1 AND ($2::int8 IS NULL OR person_id = $2) RETURNING 1"
const END_ALL = "DELETE FROM cabinet.session WHERE person_id = $1 AND ($2::int8 IS NULL OR id <> $2) RETURNING 1"

const toSession = (row: SessionRow): LiveSession => ({
  id: Number(row.id),
  personId: Number(row.person_id),
  personName: row.name,
  role: row.role,
  method: row.method,
  createdAt: row.created_at,
  lastSeenAt: row.last_seen_at,
  expiresAt: row.expires_at,
  client: row.client,
  userAgent: row.user_agent,
  ageSeconds: row.age_seconds,
  isSelfIssued: row.self_issued,
})

const optional = (rows: ReadonlyArray<SessionRow>): Option.Option<LiveSession> =>
  Option.map(Option.fromNullishOr(rows[0]), toSession)

const valuesOf = ({ fingerprint, method, client, userAgent, knownFrom }: NewSession) => [
  fingerprint,
  method,
  client,
  userAgent,
  knownFrom,
]

export const layer = Layer.effect(
  SessionStore,
  Effect.map(PgClient.PgClient, (sql) =>
    SessionStore.of({
      claim: (link, session) =>
        orUnavailable(Effect.map(sql.unsafe<SessionRow>(CLAIM, [...valuesOf(session), link]), optional)),
      begin: (personId, session) =>
        orUnavailable(Effect.map(sql.unsafe<SessionRow>(BEGIN, [...valuesOf(session), personId]), optional)),
      find: (fingerprint) => orUnavailable(Effect.map(sql.unsafe<SessionRow>(FIND, [fingerprint]), optional)),
      peek: (fingerprint) => orUnavailable(Effect.map(sql.unsafe<SessionRow>(PEEK, [fingerprint]), optional)),
      list: (personId, { before, limit }) =>
        orUnavailable(
          Effect.map(sql.unsafe<SessionRow>(LIST, [personId, before, limit]), (rows) => rows.map(toSession)),
        ),
      end: (id, ofPerson) => orUnavailable(Effect.map(sql.unsafe(END, [id, ofPerson]), (rows) => rows.length === 1)),
      endAll: (personId, butId) =>
        orUnavailable(Effect.map(sql.unsafe(END_ALL, [personId, butId]), (rows) => rows.length)),
    }),
  ),
)

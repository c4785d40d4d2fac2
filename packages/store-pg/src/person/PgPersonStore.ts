/** People and their one-time links in PostgreSQL. */
import type { PersonRole } from "@data-cabinet/core/key/Role"
import type { Issuer, Person } from "@data-cabinet/core/person/Person"
import { type Changed, PersonStore } from "@data-cabinet/core/person/PersonStore"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer, Option } from "effect"
import type { SqlError } from "effect/sql"
import { orUnavailable, sqlState } from "../connection/StoreFailure.ts"

interface PersonRow {
  readonly id: string
  readonly name: string
  readonly role: PersonRole
  readonly issuer: Issuer | null
  readonly has_password: boolean
  readonly created_at: string
  readonly signed_in_at: string | null
  readonly link_expires_at: string | null
  readonly removed_at: string | null
}

interface HolderRow extends PersonRow {
  readonly password: string | null
  readonly signed_in_from: string | null
}

interface ChangeRow extends PersonRow {
  readonly outcome: "done" | "last_owner"
}

const COLUMNS = `p.id::text AS id, p.name, p.role, p.issuer, p.password IS NOT NULL AS has_password,
  cabinet.rfc3339(p.created_at) AS created_at, cabinet.rfc3339(p.signed_in_at) AS signed_in_at,
  (SELECT cabinet.rfc3339(l.expires_at) FROM cabinet.sign_in_link l
   WHERE l.person_id = p.id AND l.expires_at > cabinet.now()) AS link_expires_at,
  cabinet.rfc3339(p.removed_at) AS removed_at`

const ADD = `INSERT INTO cabinet.person AS p (name, role) VALUES ($1, $2) RETURNING ${COLUMNS}`

const LIST = `SELECT ${COLUMNS} FROM cabinet.person p WHERE p.id > $1::int8 ORDER BY p.id LIMIT $2::int4`

const FIND = `SELECT ${COLUMNS} FROM cabinet.person p WHERE p.id = $1 AND p.removed_at IS NULL`

const BY_NAME = `
  SELECT ${COLUMNS}, p.password, p.signed_in_from FROM cabinet.person p
  WHERE lower(p.name) = lower($1) AND p.issuer IS NULL`

/**
 * The owners, locked: of two concurrent changes, the second sees the effect of the first. The rows that the lock
 * returns show whether the person is the last owner.
 */
const OWNERS = `owners AS MATERIALIZED (
    SELECT o.id FROM cabinet.person o WHERE o.role = 'owner' AND o.removed_at IS NULL ORDER BY o.id FOR UPDATE
  ), target AS MATERIALIZED (
    SELECT p.id, EXISTS (SELECT FROM owners o WHERE o.id = p.id) AND (SELECT count(*) FROM owners) = 1 AS last_one
    FROM cabinet.person p WHERE p.id = $1 AND (p.removed_at IS NULL OR p.issuer IS NOT NULL)
  )`

/** $2: name or null, $3: role or null. A role lets a removed one in again. */
const CHANGE = `
  WITH ${OWNERS}, changed AS (
    UPDATE cabinet.person p SET name = coalesce($2, p.name), role = coalesce($3, p.role),
      removed_at = CASE WHEN $3 IS NULL THEN p.removed_at END
    FROM target a WHERE p.id = a.id AND NOT (a.last_one AND coalesce($3, 'owner') <> 'owner')
    RETURNING p.*
  )
  SELECT 'done' AS outcome, ${COLUMNS} FROM changed p
  UNION ALL
  SELECT 'last_owner', ${COLUMNS} FROM cabinet.person p JOIN target a ON a.id = p.id
  WHERE a.last_one AND coalesce($3, 'owner') <> 'owner'`

/**
 * A person who signs in here is deleted; a person of an issuer stays, marked, so that the issuer does not bring them
 * back.
 */
const REMOVE = `
  WITH ${OWNERS}, gone AS (
    DELETE FROM cabinet.person p USING target a WHERE p.id = a.id AND NOT a.last_one AND p.issuer IS NULL RETURNING p.*
  ), marked AS (
    UPDATE cabinet.person p SET removed_at = coalesce(p.removed_at, cabinet.now())
    FROM target a WHERE p.id = a.id AND NOT a.last_one AND p.issuer IS NOT NULL RETURNING p.*
  )
  SELECT 'done' AS outcome, ${COLUMNS} FROM gone p UNION ALL SELECT 'done', ${COLUMNS} FROM marked p
  UNION ALL
  SELECT 'last_owner', ${COLUMNS} FROM cabinet.person p JOIN target a ON a.id = p.id WHERE a.last_one`

const SET_PASSWORD = "UPDATE cabinet.person SET password = $2 WHERE id = $1 AND issuer IS NULL RETURNING 1"

/** $3: seconds, $4: whether the person issues it. */
const SET_LINK = `
  INSERT INTO cabinet.sign_in_link AS l (person_id, fingerprint, expires_at, self_issued)
  SELECT p.id, $2, cabinet.now() + make_interval(secs => $3::float8), $4 FROM cabinet.person p
  WHERE p.id = $1 AND p.issuer IS NULL
  ON CONFLICT (person_id) DO UPDATE SET
    fingerprint = excluded.fingerprint, expires_at = excluded.expires_at, self_issued = excluded.self_issued
  RETURNING cabinet.rfc3339(l.expires_at) AS expires_at`

const BY_LINK = `
  SELECT ${COLUMNS} FROM cabinet.sign_in_link k JOIN cabinet.person p ON p.id = k.person_id
  WHERE k.fingerprint = $1 AND k.expires_at > cabinet.now()`

const FIND_EXTERNAL = `SELECT ${COLUMNS} FROM cabinet.person p WHERE p.issuer = $1 AND p.subject = $2`

/** $5: whether name and role follow. */
const SAVE_EXTERNAL = `
  INSERT INTO cabinet.person AS p (issuer, subject, name, role) VALUES ($1, $2, $3, $4)
  ON CONFLICT (issuer, subject) DO UPDATE SET
    name = CASE WHEN $5::bool THEN excluded.name ELSE p.name END,
    role = CASE WHEN $5::bool THEN excluded.role ELSE p.role END
  RETURNING ${COLUMNS}`

const UNIQUE = "23505"

const toPerson = (row: PersonRow): Person => ({
  id: Number(row.id),
  name: row.name,
  role: row.role,
  issuer: row.issuer,
  hasPassword: row.has_password,
  createdAt: row.created_at,
  signedInAt: row.signed_in_at,
  linkExpiresAt: row.link_expires_at,
  removedAt: row.removed_at,
})

const toChanged = (rows: ReadonlyArray<ChangeRow>): Changed => {
  const [row] = rows
  if (row === undefined) return "missing"
  return row.outcome === "last_owner" ? "last_owner" : toPerson(row)
}

const orTaken = <A, R>(work: Effect.Effect<A, SqlError.SqlError, R>) =>
  Effect.catchIf(
    work,
    (error) => sqlState(error) === UNIQUE,
    () => Effect.succeed("name_taken" as const),
  )

const optional = (rows: ReadonlyArray<PersonRow>): Option.Option<Person> =>
  Option.map(Option.fromNullishOr(rows[0]), toPerson)

export const layer = Layer.effect(
  PersonStore,
  Effect.map(PgClient.PgClient, (sql) =>
    PersonStore.of({
      add: ({ name, role }) =>
        sql.unsafe<PersonRow>(ADD, [name, role]).pipe(
          Effect.map(([row]) => toPerson(row!)),
          orTaken,
          orUnavailable,
        ),
      list: ({ after, limit }) =>
        orUnavailable(Effect.map(sql.unsafe<PersonRow>(LIST, [after, limit]), (rows) => rows.map(toPerson))),
      find: (id) => orUnavailable(Effect.map(sql.unsafe<PersonRow>(FIND, [id]), optional)),
      byName: (name) =>
        sql.unsafe<HolderRow>(BY_NAME, [name]).pipe(
          Effect.map(([row]) =>
            Option.map(Option.fromNullishOr(row), (found) => ({
              person: toPerson(found),
              password: found.password,
              knownFrom: found.signed_in_from,
            })),
          ),
          orUnavailable,
        ),
      change: (id, { name, role }) =>
        sql
          .unsafe<ChangeRow>(CHANGE, [id, name ?? null, role ?? null])
          .pipe(Effect.map(toChanged), orTaken, orUnavailable),
      remove: (id) => orUnavailable(Effect.map(sql.unsafe<ChangeRow>(REMOVE, [id]), toChanged)),
      setPassword: (id, password) =>
        orUnavailable(Effect.map(sql.unsafe(SET_PASSWORD, [id, password]), (rows) => rows.length === 1)),
      setLink: (id, fingerprint, seconds, isSelfIssued) =>
        sql.unsafe<{ readonly expires_at: string }>(SET_LINK, [id, fingerprint, seconds, isSelfIssued]).pipe(
          Effect.map(([row]) => Option.map(Option.fromNullishOr(row), ({ expires_at }) => expires_at)),
          orUnavailable,
        ),
      byLink: (fingerprint) => orUnavailable(Effect.map(sql.unsafe<PersonRow>(BY_LINK, [fingerprint]), optional)),
      findExternal: ({ issuer, subject }) =>
        orUnavailable(Effect.map(sql.unsafe<PersonRow>(FIND_EXTERNAL, [issuer, subject]), optional)),
      saveExternal: ({ issuer, subject, name, role, follow }) =>
        sql.unsafe<PersonRow>(SAVE_EXTERNAL, [issuer, subject, name, role, follow]).pipe(
          Effect.map(([row]) => toPerson(row!)),
          orUnavailable,
        ),
    }),
  ),
)

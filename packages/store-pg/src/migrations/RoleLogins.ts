/** Logins of the roles: their names and URLs, and whether PostgreSQL accepts their passwords. */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "../connection/SessionPool.ts"
import { short } from "../connection/SessionSettings.ts"
import { sqlState } from "../connection/StoreFailure.ts"
import { hash } from "node:crypto"

/** The names of a cabinet's roles. Roles belong to the whole cluster, so they include the database's. */
export const roleName = (database: string, kind: "reader" | "author" | "reports"): string => {
  const whole = `cabinet_${database}_${kind}`
  if (Buffer.byteLength(whole) <= 63) return whole
  return `cabinet_${hash("sha256", database).slice(0, 32)}_${kind}`
}

export type RoleKind = "reader" | "author"

/** A role that can log in, or a sentence that says why it cannot. */
export type RoleLogin =
  | {
      readonly there: true
      readonly role: string
      readonly url: string
      /** For an author's login that we created: the owner's URL, through which each session is admitted (see AuthorLogin). */
      readonly admittedBy?: string
    }
  | { readonly there: false; readonly role: string; readonly reason: string }

export const withLogin = (url: string, role: string, password: string): string => {
  const parsed = new URL(url)
  parsed.username = encodeURIComponent(role)
  parsed.password = encodeURIComponent(password)
  // A URL without a host loses its login, and the role's session would be the owner's.
  if (parsed.username === "") throw new Error("the database URL names no host")
  return parsed.toString()
}

export const login = (role: string, url: string): RoleLogin & { readonly there: true } => ({ there: true, role, url })

/** The login of a role that we created, with the stored password. */
export const ownLogin = (kind: RoleKind, url: string, role: string, password: string) => {
  const own = login(role, withLogin(url, role, password))
  return kind === "author" ? { ...own, admittedBy: url } : own
}

export const userOf = (url: string): string => decodeURIComponent(new URL(url).username)

export const session = (url: string) =>
  SessionPool.layer({ url, maxConnections: 1, connectTimeout: "5 seconds", settings: short(30_000) })

export const letsIn = (url: string) =>
  PgClient.PgClient.use((sql) => sql`SELECT`).pipe(
    Effect.provide(session(url), { local: true }),
    Effect.scoped,
    Effect.match({ onSuccess: () => true, onFailure: () => false }),
  )

/** Whether the password is correct. The right to log in to this database is granted later. */
export const knowsPassword = (url: string) =>
  PgClient.PgClient.use((sql) => sql`SELECT`).pipe(
    Effect.provide(session(url), { local: true }),
    Effect.scoped,
    Effect.match({ onSuccess: () => true, onFailure: (error) => sqlState(error) === "42501" }),
  )

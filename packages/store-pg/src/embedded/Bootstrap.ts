/**
 * Creates the role and the database of a cabinet in a new embedded cluster. The owner is not a superuser: it may only
 * create roles and databases, so that the embedded PostgreSQL and a customer's own behave alike, and nothing works only
 * because it runs embedded.
 */
import { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import * as SessionPool from "../connection/SessionPool.ts"
import { unlimited } from "../connection/SessionSettings.ts"
import type { Endpoint } from "./Endpoint.ts"

export const ownerRole = "cabinet"
export const ownerDatabase = "cabinet"

/** Does nothing if both exist. Failures are defects: the cluster is ours alone. */
export const bootstrap = (endpoint: Endpoint, superuser: string): Effect.Effect<void> =>
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const [role] = yield* sql`SELECT 1 FROM pg_roles WHERE rolname = ${ownerRole}`
    if (role === undefined) {
      // It consists of letters, digits, - and _ only, so it needs no quoting; utility statements take no parameters.
      const password = endpoint.password === undefined ? "" : ` PASSWORD '${endpoint.password}'`
      yield* sql.unsafe(`CREATE ROLE ${ownerRole} LOGIN CREATEROLE CREATEDB${password}`)
    }
    const [database] = yield* sql`SELECT 1 FROM pg_database WHERE datname = ${ownerDatabase}`
    if (database === undefined) {
      yield* sql.unsafe(`CREATE DATABASE ${ownerDatabase} OWNER ${ownerRole} TEMPLATE template0`)
    }
  }).pipe(
    Effect.provide(
      SessionPool.layer({ url: endpoint.urlFor(superuser, "postgres"), maxConnections: 1, settings: unlimited }),
    ),
    Effect.orDie,
  )

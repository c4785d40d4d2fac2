/**
 * The owner's pool: short statements of many requests share its connections. Its search path holds nothing but the
 * system's own schema, so that no object a customer makes can stand in for one that we mean.
 */
import { PgClient } from "@effect/sql-pg"
import { Redacted } from "effect"

export interface OwnerOptions {
  /** `postgres://user:password@host:port/database`, or with a socket directory percent-encoded as the host. */
  readonly url: string
  readonly maxConnections?: number
  readonly applicationName?: string
}

/** Session settings that every connection of ours begins with. */
export const SESSION = {
  timezone: "UTC",
  datestyle: "ISO, YMD",
  intervalstyle: "postgres",
  extra_float_digits: "1",
  bytea_output: "hex",
  standard_conforming_strings: "on",
  client_min_messages: "warning",
} as const

export const layer = (options: OwnerOptions) =>
  PgClient.layer({
    url: Redacted.make(options.url),
    maxConnections: options.maxConnections ?? 10,
    idleTimeout: "60 seconds",
    connectTimeout: "5 seconds",
    multiplex: true,
    applicationName: options.applicationName ?? "data-cabinet",
    startupParameters: {
      ...SESSION,
      search_path: "pg_catalog",
      statement_timeout: "30000",
      lock_timeout: "5000",
      idle_in_transaction_session_timeout: "60000",
    },
  })

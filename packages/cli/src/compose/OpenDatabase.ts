/**
 * Opens a cabinet's database: connects, brings its schema up to date, and ensures the reader's and the author's roles. Any
 * obstacle is reported in words before anything is served.
 */
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { probeConnection } from "@data-cabinet/store-pg/connection/ConnectionSecurity"
import { fitConnections } from "@data-cabinet/store-pg/connection/FitConnections"
import { TransactionPooling } from "@data-cabinet/store-pg/connection/HostProbe"
import { SessionUnfit } from "@data-cabinet/store-pg/connection/SessionCheck"
import { failureWords } from "@data-cabinet/store-pg/connection/FailureWords"
import { connectionLossAsError, sqlMessage, sqlState } from "@data-cabinet/store-pg/connection/StoreFailure"
import { reencryptSecrets } from "@data-cabinet/store-pg/key/ReencryptSecrets"
import type { SecretCipher } from "@data-cabinet/store-pg/key/SecretCipher"
import { recordBaseUrl, recordedBaseUrl } from "@data-cabinet/store-pg/source/RecordedBaseUrl"
import { migrate } from "@data-cabinet/store-pg/migrations/PgMigrations"
import { ensureRoles, type Roles } from "@data-cabinet/store-pg/migrations/PgRoles"
import { parseUri } from "@data-cabinet/store-pg/connection/LibpqUri"
import { Effect, Result } from "effect"
import type { SqlError } from "effect/sql"
import { StartError } from "../error/StartError.ts"
import { waitForDatabase } from "./WaitForDatabase.ts"

export interface DatabaseOptions {
  readonly url: string
  readonly readerUrl?: string | undefined
  readonly authorUrl?: string | undefined
  /** The URL under which others reach the cabinet, of a process that serves it: recorded for the others. */
  readonly baseUrl?: string | undefined
  /**
   * For callers that use the cabinet's secrets: opening encrypts them with its first key. Otherwise they stay
   * unchanged.
   */
  readonly cipher?: SecretCipher | undefined
}

export interface OpenedDatabase {
  readonly roles: Roles
  /** The migrations applied by this call; empty when the schema was up to date. */
  readonly applied: ReadonlyArray<string>
  /** The URL under which others reach the cabinet, as a server recorded it; null if none has. */
  readonly recordedBaseUrl: string | null
}

/** The hosts and database of a URL, without the login. */
export const describeUrl = (url: string): string => {
  const { hosts, ports, database } = Result.getOrThrow(parseUri(url))
  const place = (host: string, at: number): string => {
    const port = ports[at] ?? ports[0]
    if (port === undefined || port === "" || host.startsWith("/")) return host
    return `${host.includes(":") ? `[${host}]` : host}:${port}`
  }
  return `${hosts.map(place).join(",")}/${database ?? ""}`
}

/** Advice by Node's error code for certificates, or the driver's for TLS. */
const toCheck = (message: string): string => {
  if (/altnames/i.test(message)) {
    return "Name the host in DATABASE_URL as the server's certificate does, or use sslmode=verify-ca."
  }
  if (/certificate|CA cert/i.test(message)) {
    return "Check that sslrootcert or DATABASE_CA names the authority that signed the server's certificate."
  }
  if (/does not support TLS/.test(message)) {
    return "Enable TLS on the server, or set sslmode=disable if the network is trusted."
  }
  return "Check that PostgreSQL runs there and that DATABASE_URL is right."
}

/** Enough for all migrations at once, next to other sessions. */
const LEAST_LOCKS = 640

const sentenceOf = (url: string, error: SqlError.SqlError): StartError => {
  const where = describeUrl(url)
  const state = sqlState(error)
  const words = failureWords(error)
  if (error.reason.cause instanceof SessionUnfit || error.reason.cause instanceof TransactionPooling) {
    return new StartError({
      code: "database_unfit",
      message: `The database at ${where} cannot be used: ${sqlMessage(error)}.`,
    })
  }
  if (state === "3D000") {
    return new StartError({
      code: "database_refused",
      message: `There is no database at ${where}. Create it with createdb, or correct DATABASE_URL.`,
    })
  }
  if (state === "28000" && /no encryption/.test(sqlMessage(error))) {
    return new StartError({
      code: "database_refused",
      message: `The database at ${where} requires TLS (${sqlMessage(error)}). Add sslmode=verify-full or sslmode=require to DATABASE_URL.`,
    })
  }
  if (state?.startsWith("28") === true || error.reason._tag === "AuthenticationError") {
    return new StartError({
      code: "database_refused",
      message: `The database at ${where} rejected the login (${sqlMessage(error)}). Correct the user and password in DATABASE_URL.`,
    })
  }
  if (state === "53200" && /out of shared memory/.test(sqlMessage(error))) {
    return new StartError({
      code: "database_unfit",
      message: `The database at ${where} has too few locks to be prepared (${sqlMessage(error)}). max_locks_per_transaction × max_connections must be at least ${LEAST_LOCKS}, as with the defaults of PostgreSQL (64 × 100): raise max_locks_per_transaction and restart PostgreSQL.`,
    })
  }
  if (state === "42501") {
    return new StartError({
      code: "database_unfit",
      message: `The database user lacks a privilege at ${where}: ${sqlMessage(error)}. Let the database's owner grant it, or name the owner in DATABASE_URL.`,
    })
  }
  if (
    state === undefined ||
    state === "25006" ||
    state === "58030" ||
    state.startsWith("57P") ||
    state.startsWith("53") ||
    state.startsWith("08")
  ) {
    return new StartError({
      code: "database_unreachable",
      message:
        words === undefined
          ? `The database at ${where} cannot be reached (${sqlMessage(error)}). ${toCheck(sqlMessage(error))}`
          : `The database at ${where} cannot be used: ${words} (${sqlMessage(error)}).`,
    })
  }
  return new StartError({
    code: "database_unfit",
    message: `The database at ${where} cannot be prepared: ${sqlMessage(error)}.`,
  })
}

const inWords = (url: string, error: SqlError.SqlError): StartError => {
  const { code, message } = sentenceOf(url, error)
  const words = failureWords(error)
  return new StartError({ code, message, ...(words === undefined ? {} : { words }) })
}

/** A missing author concerns only `cabinet sql`, which reports it itself; other commands need not. */
const warnOfMissingRoles = ({ url, baseUrl }: DatabaseOptions, { reader, author, administratorSql }: Roles) => {
  if (administratorSql === null || (reader.there && baseUrl === undefined)) return Effect.void
  const off = [...(reader.there ? [] : ["Reading"]), ...(author.there ? [] : ["`cabinet sql`"])]
  return Effect.logWarning(
    `${off.join(" and ")} ${off.length > 1 ? "are" : "is"} off, because the user of the database at ${describeUrl(url)} may not create roles. Let an administrator of that server run what follows (cabinet migrate --get administrator_sql prints it alone), then repeat the command, or restart the server: ${administratorSql}`,
  )
}

/**
 * Safe to call from any number of processes at once. Waits up to `waitMillis` milliseconds for a database that is not up yet.
 */
export const openDatabase = (options: DatabaseOptions, waitMillis = 0): Effect.Effect<OpenedDatabase, StartError> =>
  Effect.gen(function* () {
    yield* probeConnection(options.url)
    yield* fitConnections()
    const applied = yield* migrate
    const roles = yield* ensureRoles(options)
    yield* warnOfMissingRoles(options, roles)
    if (options.cipher !== undefined) yield* reencryptSecrets(options.cipher)
    if (options.baseUrl !== undefined) yield* recordBaseUrl(options.baseUrl)
    return { applied, roles, recordedBaseUrl: yield* recordedBaseUrl }
  }).pipe(
    Effect.provide(OwnerClient.layer({ url: options.url, maxConnections: 2, applicationName: "data-cabinet start" }), {
      local: true,
    }),
    connectionLossAsError,
    (open) => waitForDatabase(open, describeUrl(options.url), waitMillis),
    Effect.catchTags({
      SqlError: (error) => Effect.fail(inWords(options.url, error)),
      SecretKeyMissing: ({ message }) => Effect.fail(new StartError({ code: "database_unfit", message })),
      MigrationError: (error) => Effect.fail(new StartError({ code: "database_unfit", message: error.message })),
    }),
  )

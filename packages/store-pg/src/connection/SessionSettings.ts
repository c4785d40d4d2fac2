import { MAX_SNAPSHOT_MINUTES } from "@data-cabinet/core/export/RowSnapshots"

/**
 * The settings of each kind of session, by name. A setting not listed here is left to the database or the role. One
 * listed here is verified before a session is used (see SessionCheck): the digits of a number, the zone of a timestamp
 * or the time limit of a statement must not depend on a pooler between us and PostgreSQL.
 *
 * Names and values are spelled as `pg_settings` shows them, times in milliseconds.
 */
export interface SessionSettings {
  /** Sent when a session is opened. */
  readonly set: Readonly<Record<string, string>>
  /**
   * The value of a setting, from its current one, if the server has it: not every version does, and some values are
   * left alone.
   */
  readonly corrected?: Readonly<Record<string, (is: string) => string>>
  /** Required but not ours to set: a session without these values is not used. */
  readonly found?: Readonly<Record<string, string>>
  /** Set by a statement in each new session and not read back: the settings that a URL adds. */
  readonly more?: ReadonlyArray<readonly [name: string, value: string]>
}

/** These depend on how the server is reached (a unix socket has none of them), so they are sent and not verified. */
export const UNVERIFIED: ReadonlyArray<string> = [
  "tcp_keepalives_idle",
  "tcp_keepalives_interval",
  "tcp_keepalives_count",
  "tcp_user_timeout",
  "client_connection_check_interval",
]

const SAME_FOR_ALL = {
  client_encoding: "UTF8",
  TimeZone: "UTC",
  DateStyle: "ISO, YMD",
  IntervalStyle: "postgres",
  extra_float_digits: "1",
  bytea_output: "hex",
  xmlbinary: "base64",
  standard_conforming_strings: "on",
  array_nulls: "on",
  transform_null_equals: "off",
  quote_all_identifiers: "off",
  client_min_messages: "warning",
  // A statement that waited for another's commit has to see it.
  default_transaction_isolation: "read committed",
  // Above this number of rows, an index of trigrams or of JSON would return some of them, chosen at random.
  gin_fuzzy_search_limit: "0",
  // An error is one statement's, not the session's.
  exit_on_error: "off",
  // A pool closes unneeded sessions itself; a session closed by the server would fail the next request.
  idle_session_timeout: "0",
  // A client whose machine is silent for some ten seconds is gone, and what its session holds is released; by default
  // this would take hours.
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "11000",
  // Compiling one of our statements took 80 ms when measured, running it 1 ms.
  jit: "off",
} as const

/** PostgreSQL 17 and newer have it, and the cabinet's transactions have limits of their own. */
const UNLIMITED_TRANSACTIONS = { transaction_timeout: () => "0" }

/**
 * A receipt means that its event outlives a crash. `local` and `remote_write` do so on this server, and are left
 * unchanged.
 */
const DURABLE = { synchronous_commit: (is: string) => (is === "off" ? "on" : is) }

/** Replication's own sessions run no triggers and check no foreign keys. */
const FOUND = { session_replication_role: "origin" }

/** An operator who makes a database or a role read-only means the cabinet as well: it does not override that. */
const FOUND_WRITABLE = { ...FOUND, default_transaction_read_only: "off" }

/**
 * The search path of every owner session: unqualified names are PostgreSQL's own, so that no customer's object can take
 * the place of one that we mean. Temporary objects are listed because otherwise they would come first.
 */
const OWNER_PATH = "pg_catalog, pg_temp"

const OWNER = {
  ...SAME_FOR_ALL,
  search_path: OWNER_PATH,
  // A plan made while its tables were small reads a whole table for each row that it looks up, until the next ANALYZE.
  // Our own statements have an index for everything that may grow.
  enable_seqscan: "off",
  statement_timeout: "30000",
  lock_timeout: "5000",
  idle_in_transaction_session_timeout: "60000",
} as const

/** The owner's sessions that are lent whole: for transactions, listening and the writers. */
export const owner: SessionSettings = {
  set: OWNER,
  corrected: { ...UNLIMITED_TRANSACTIONS, ...DURABLE },
  found: FOUND_WRITABLE,
}

/**
 * The owner's shared sessions. Their few statements have one good plan each: planning again costs a tenth of a page of
 * the feed. They write nothing durable, so none waits for a standby and delays the statements queued after it: counts
 * are unlogged, but even a read may log a page that it tidies up.
 */
export const ownerShared: SessionSettings = {
  set: { ...OWNER, plan_cache_mode: "force_generic_plan", synchronous_commit: "off" },
  corrected: UNLIMITED_TRANSACTIONS,
  found: FOUND_WRITABLE,
}

export interface ReaderLimits {
  readonly statementTimeoutMillis: number
  readonly lockTimeoutMillis: number
}

/** The reader's, on the primary and on a standby. No schema of a customer is on the search path. */
export const reader = ({ statementTimeoutMillis, lockTimeoutMillis }: ReaderLimits): SessionSettings => ({
  set: {
    ...SAME_FOR_ALL,
    search_path: OWNER_PATH,
    default_transaction_read_only: "on",
    // Further messages of a view's function have no reader, and may be long.
    client_min_messages: "error",
    statement_timeout: String(statementTimeoutMillis),
    lock_timeout: String(lockTimeoutMillis),
    idle_in_transaction_session_timeout: "60000",
  },
  corrected: UNLIMITED_TRANSACTIONS,
  found: FOUND,
})

/**
 * The reader's sessions that may run a customer's functions: their bodies find names in `public`; our own statements are
 * schema-qualified.
 */
export const readerIsolated = (limits: ReaderLimits): SessionSettings => {
  const { set, ...rest } = reader(limits)
  return { ...rest, set: { ...set, search_path: "pg_catalog, public, pg_temp" } }
}

/** The reader's sessions for exports. */
export const readerSnapshot = ({ lockTimeoutMillis }: Pick<ReaderLimits, "lockTimeoutMillis">): SessionSettings => {
  const statementTimeoutMillis = MAX_SNAPSHOT_MINUTES * 60_000
  const { set, ...rest } = readerIsolated({ statementTimeoutMillis, lockTimeoutMillis })
  // A client may take its export slowly.
  const patient = { default_transaction_isolation: "repeatable read", idle_in_transaction_session_timeout: "0" }
  return { ...rest, set: { ...set, ...patient } }
}

/** The author's, whose search path and limits are the customer's own. */
export const author: SessionSettings = {
  set: SAME_FOR_ALL,
  found: FOUND,
}

/** The author's settings for a statement of ours, for which a caller waits. */
export const authorBounded: SessionSettings = {
  ...author,
  set: { ...author.set, lock_timeout: "5000", statement_timeout: "30000" },
}

/** For one short query with this limit in milliseconds; also on a server that may be a standby. */
export const short = (statementTimeoutMillis: number): SessionSettings => ({
  set: { ...SAME_FOR_ALL, search_path: OWNER_PATH, statement_timeout: String(statementTimeoutMillis) },
})

/** For work without a time limit: a backup, or creating a database. */
export const unlimited: SessionSettings = {
  set: { ...SAME_FOR_ALL, search_path: OWNER_PATH, statement_timeout: "0", idle_in_transaction_session_timeout: "0" },
  corrected: UNLIMITED_TRANSACTIONS,
}

/** The settings that a URL may not change, in lower case: any kind of session depends on them. */
export const PINNED: ReadonlySet<string> = new Set(
  [ownerShared, reader({ statementTimeoutMillis: 0, lockTimeoutMillis: 0 }), unlimited]
    .flatMap(({ set, corrected = {}, found = {} }) => [set, corrected, found].flatMap((one) => Object.keys(one)))
    .concat("application_name", "role", "session_authorization")
    .map((name) => name.toLowerCase()),
)

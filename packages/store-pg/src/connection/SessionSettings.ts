/**
 * What each kind of session is set to, name by name. A setting that is missing here is the database's or the role's own, and
 * one that is here is made sure of before a session is used (see SessionCheck): a digit of a number, a moment's zone or the
 * limit of a statement must not hang on what stands between us and PostgreSQL.
 *
 * Names and values are spelt as `pg_settings` shows them, times in milliseconds.
 */
export interface SessionSettings {
  /** Sent when a session is opened. */
  readonly set: Readonly<Record<string, string>>
  /** Found so or not used: not for us to set. */
  readonly found?: Readonly<Record<string, string>>
}

/** Depend on how the server is reached (a socket has none of them), so they are sent and not asked for. */
export const UNASKED: ReadonlyArray<string> = [
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
  // A client whose machine is silent for some ten seconds is gone, and what its session holds is free: it would be hours.
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "11000",
  // Compiling one of our statements was measured to take 80 ms, its run 1 ms.
  jit: "off",
} as const

/** Replication's own sessions run no triggers and check no keys. */
const FOUND = { session_replication_role: "origin" }

/**
 * The search path of every session of the owner: what is not qualified is PostgreSQL's own, so that no object a customer
 * makes can stand in for one that we mean. Temporary objects are named because they would come first otherwise.
 */
const OWNER_PATH = "pg_catalog, pg_temp"

const OWNER = {
  ...SAME_FOR_ALL,
  search_path: OWNER_PATH,
  default_transaction_read_only: "off",
  // A plan is kept from when its tables were small, and a whole table read for each row that is looked up, until the
  // next ANALYZE. Our own statements have an index for whatever may grow.
  enable_seqscan: "off",
  statement_timeout: "30000",
  lock_timeout: "5000",
  idle_in_transaction_session_timeout: "60000",
} as const

/** The owner's sessions that are lent whole: for transactions, listening and the writers. */
export const owner: SessionSettings = { set: OWNER, found: FOUND }

/**
 * The owner's sessions that are shared. The few statements of them have one good plan each: making it again is a tenth of a
 * page of the feed.
 */
export const ownerShared: SessionSettings = {
  set: { ...OWNER, plan_cache_mode: "force_generic_plan" },
  found: FOUND,
}

export interface ReaderLimits {
  readonly statementTimeoutMillis: number
  readonly lockTimeoutMillis: number
}

/** Of the reader, on the primary and on a standby. Nothing of a customer's lies on the search path. */
export const reader = ({ statementTimeoutMillis, lockTimeoutMillis }: ReaderLimits): SessionSettings => ({
  set: {
    ...SAME_FOR_ALL,
    search_path: OWNER_PATH,
    default_transaction_read_only: "on",
    // What a view's function tells besides is nobody's to read, and may be long.
    client_min_messages: "error",
    statement_timeout: String(statementTimeoutMillis),
    lock_timeout: String(lockTimeoutMillis),
  },
  found: FOUND,
})

/** Of the reader where a customer's functions may run: their bodies find what lies in `public`; our own statements name schemas. */
export const readerApart = (limits: ReaderLimits): SessionSettings => {
  const { set, found } = reader(limits)
  return { set: { ...set, search_path: "pg_catalog, public, pg_temp" }, ...(found === undefined ? {} : { found }) }
}

/** Of the author, whose search path and limits are the customer's own. */
export const author: SessionSettings = {
  set: { ...SAME_FOR_ALL, default_transaction_read_only: "off" },
  found: FOUND,
}

/** For one short question, asked with this limit in milliseconds; also at a server that may be a standby. */
export const short = (statementTimeoutMillis: number): SessionSettings => ({
  set: { ...SAME_FOR_ALL, search_path: OWNER_PATH, statement_timeout: String(statementTimeoutMillis) },
})

/** For what takes as long as it takes: a backup, or the making of a database. */
export const unlimited: SessionSettings = {
  set: { ...SAME_FOR_ALL, search_path: OWNER_PATH, statement_timeout: "0", idle_in_transaction_session_timeout: "0" },
}

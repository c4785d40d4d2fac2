/** What a program says when it opens a cabinet. Nothing is read from the environment, and nothing global is changed. */
import type { Effect } from "effect"
import { readSettings, type SettingName, type Settings } from "../cabinet/Settings.ts"
import type { StartError } from "../cabinet/StartError.ts"
import type { ProgramLog } from "./HostLog.ts"

export interface OpenCabinetOptions {
  /** A PostgreSQL 15 to 18, such as `postgres://user:password@host/database`. Without it an embedded one is used. */
  readonly databaseUrl?: string | undefined
  /** Where the embedded PostgreSQL keeps its data. Default `.cabinet`. */
  readonly dataDir?: string | undefined
  /** The address that others reach the cabinet by; it may have a path. Default `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | undefined
  /** Whether this process also sends deliveries and runs polls. Default true; false where `cabinet work` or another process does. */
  readonly delivery?: boolean | undefined
  /** Connections of the owner's pool. Default 10; the reader has a pool of its own. */
  readonly maxConnections?: number | undefined
  /** Where log entries go: `console`, or any logger of that shape. Default: warnings and errors to `console`. */
  readonly log?: ProgramLog | undefined
  /** Logins of roles, where the database's user may not make any. */
  readonly readerUrl?: string | undefined
  readonly authorUrl?: string | undefined
  /** Where the days of a period begin. Default `UTC`. */
  readonly timeZone?: string | undefined
  /** Where `/api/v1/docs` leads. Default: the bundled reference page. */
  readonly docsUrl?: string | undefined
  /** Proxies whose word about a client's address is taken, as addresses and networks. Default none. */
  readonly trustedProxies?: ReadonlyArray<string> | undefined
  /** Networks that deliveries may reach although they are not public. Default none. */
  readonly allowedNetworks?: ReadonlyArray<string> | undefined
  /** API requests a minute for each key. Default 120. */
  readonly apiRate?: number | undefined
  /** Intake requests a minute for each source and client address; 0 for no limit. Default 60. */
  readonly intakeRate?: number | undefined
  /** Default 1,048,576. */
  readonly intakeMaxBytes?: number | undefined
  /** How long a reader's query may run, and wait for a lock, in milliseconds. Default 15,000 and 2,000. */
  readonly statementTimeoutMillis?: number | undefined
  readonly lockTimeoutMillis?: number | undefined
  /** Default true. */
  readonly reading?: boolean | undefined
  /** How many days attempts of deliveries are kept. Default 30; failed ones stay 90 at least. */
  readonly logDays?: number | undefined
}

const list = (values: ReadonlyArray<string> | undefined) => values?.join(",")
const millis = (value: number | undefined) => (value === undefined ? undefined : `${value}ms`)
const number = (value: number | undefined) => (value === undefined ? undefined : String(value))

/** The same settings, with the same checks and the same words, that the command has. */
export const settingsFrom = (options: OpenCabinetOptions): Effect.Effect<Settings, StartError> => {
  const given: { readonly [Name in SettingName]?: string | undefined } = {
    databaseUrl: options.databaseUrl,
    dataDir: options.dataDir,
    baseUrl: options.baseUrl,
    readerUrl: options.readerUrl,
    authorUrl: options.authorUrl,
    timeZone: options.timeZone,
    docsUrl: options.docsUrl,
    trustedProxies: list(options.trustedProxies),
    allowedNetworks: list(options.allowedNetworks),
    apiRate: number(options.apiRate),
    intakeRate: number(options.intakeRate),
    intakeMaxBytes: number(options.intakeMaxBytes),
    statementTimeout: millis(options.statementTimeoutMillis),
    lockTimeout: millis(options.lockTimeoutMillis),
    reading: options.reading === undefined ? undefined : options.reading ? "on" : "off",
    logDays: number(options.logDays),
  }
  return readSettings({ given, env: {} })
}

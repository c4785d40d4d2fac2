/** What a program says when it opens a cabinet. Nothing is read from the environment, and nothing global is changed. */
import { Effect } from "effect"
import { readSettings } from "../settings/ReadSettings.ts"
import { type SettingName, SETTINGS, type Settings } from "../settings/Settings.ts"
import { StartError } from "../process/StartError.ts"
import type { ProgramLog } from "./HostLog.ts"

/** Where the cabinet is and how it behaves; everything has a default. */
export interface OpenCabinetOptions {
  /** A PostgreSQL 15 to 18, such as `postgres://user:password@host/database`. Without it an embedded one is used. */
  readonly databaseUrl?: string | undefined
  /** Where the embedded PostgreSQL keeps its data. Default `.cabinet`. */
  readonly dataDir?: string | undefined
  /** The address that others reach the cabinet by; it may have a path. Default `http://127.0.0.1:8080`. */
  readonly baseUrl?: string | undefined
  /** Whether this process also sends deliveries and runs polls. Default true; false where `cabinet worker` or another process does. */
  readonly delivery?: boolean | undefined
  /**
   * Connections that the cabinet may have open for its own work, 4 at least. Default 10. Two more write what is accepted,
   * and the reader has its own, `maxReaderConnections`, and three quarters as many again for views. All are opened when needed and closed after a minute without use.
   */
  readonly maxConnections?: number | undefined
  /** Rows that can be read at once: connections of the reader. Default 8. */
  readonly maxReaderConnections?: number | undefined
  /** Where log entries go: `console`, or any logger of that shape. Default: warnings and errors to `console`. */
  readonly log?: ProgramLog | undefined
  /** Login of the reader role, where the database's user may not make roles. */
  readonly readerUrl?: string | undefined
  /** Login of the author role, likewise. */
  readonly authorUrl?: string | undefined
  /** A streaming standby that rows are read from; login and database are the primary's. */
  readonly readUrl?: string | undefined
  /** How far behind it may be, in milliseconds; while it is farther, rows are read from the primary. Default 5,000. */
  readonly readLagMillis?: number | undefined
  /** Where the days of a period begin. Default `UTC`. */
  readonly timeZone?: string | undefined
  /** Where `/api/v1/docs` leads. Default: the bundled reference page. */
  readonly docsUrl?: string | undefined
  /** Proxies whose word about a client's address is taken, as addresses and networks. Default none. */
  readonly trustedProxies?: ReadonlyArray<string> | undefined
  /** Networks that deliveries and polls may reach although they are not public. Default none. */
  readonly allowedNetworks?: ReadonlyArray<string> | undefined
  /** API requests a minute for each key. Default 120. */
  readonly apiRate?: number | undefined
  /** Intake requests a minute for each source and client address; 0 for no limit. Default 60. */
  readonly intakeRate?: number | undefined
  /** The largest body that intake takes. Default 1,048,576. */
  readonly intakeMaxBytes?: number | undefined
  /** How long a reader's query may run, in milliseconds. Default 8,000. */
  readonly statementTimeoutMillis?: number | undefined
  /** How long a reader's query may wait for a lock, in milliseconds. Default 2,000. */
  readonly lockTimeoutMillis?: number | undefined
  /** Whether rows can be read. Default true. */
  readonly reading?: boolean | undefined
  /** How many days original requests are kept; events and rows stay. Default 90. */
  readonly retentionDays?: number | undefined
  /** How many days delivered attempts and good runs of polls are kept. Default 30. */
  readonly logDays?: number | undefined
  /** The same of failed ones, which stay as long as the others at least. Default 90. */
  readonly failedLogDays?: number | undefined
}

type OptionName = keyof OpenCabinetOptions

const list = (values: ReadonlyArray<string> | undefined) => values?.join(",")
const millis = (value: number | undefined) => (value === undefined ? undefined : `${value}ms`)
const number = (value: number | undefined) => (value === undefined ? undefined : String(value))

/** The options that are settings of the command too, in the form that those are read in. */
const asSettings = (options: OpenCabinetOptions) =>
  ({
    databaseUrl: options.databaseUrl,
    dataDir: options.dataDir,
    baseUrl: options.baseUrl,
    readerUrl: options.readerUrl,
    authorUrl: options.authorUrl,
    readUrl: options.readUrl,
    readLag: millis(options.readLagMillis),
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
    retentionDays: number(options.retentionDays),
    logDays: number(options.logDays),
    failedLogDays: number(options.failedLogDays),
  }) satisfies { readonly [Name in SettingName]?: string | undefined }

/** The names of options that are called otherwise than their setting, or are none. */
const OTHER_NAMES: ReadonlyArray<OptionName> = [
  "statementTimeoutMillis",
  "lockTimeoutMillis",
  "delivery",
  "maxConnections",
  "maxReaderConnections",
  "log",
]

const refuse = (message: string) => Effect.fail(new StartError({ code: "bad_setting", message }))

/** One connection listens, and an import holds one: fewer would wait for themselves. */
const LEAST_CONNECTIONS = 4

const checkPool = (name: OptionName, value: number | undefined, least: number) =>
  value === undefined || (Number.isInteger(value) && value >= least && value <= 1000)
    ? Effect.void
    : refuse(`${name} is ${String(value)}: it must be a whole number from ${least} to 1000.`)

/** A setting is named by its flag in the command's own words; here it is an option. */
const inOptionWords = (error: StartError): StartError => {
  for (const [name, { flag }] of Object.entries(SETTINGS)) {
    if (!error.message.startsWith(`--${flag} `)) continue
    const option = OTHER_NAMES.find((other) => other === `${name}Millis`) ?? name
    return new StartError({ code: error.code, message: `${option}${error.message.slice(flag.length + 2)}` })
  }
  return error
}

/** The same settings, with the same checks and the same words, that the command has. */
export const settingsFrom = Effect.fnUntraced(function* (options: OpenCabinetOptions, opener = "openCabinet") {
  const given = asSettings(options)
  const unknown = Object.keys(options).find(
    (name) =>
      !(Object.hasOwn(given, name) && !/^(statement|lock)Timeout$/.test(name)) &&
      !OTHER_NAMES.some((other) => other === name),
  )
  // A misspelt databaseUrl would open an embedded database instead.
  if (unknown !== undefined) return yield* refuse(`${opener} has no option ${unknown}.`)
  yield* checkPool("maxConnections", options.maxConnections, LEAST_CONNECTIONS)
  yield* checkPool("maxReaderConnections", options.maxReaderConnections, 1)
  return yield* Effect.mapError(readSettings({ given, env: {} }), inOptionWords)
}) satisfies (options: OpenCabinetOptions, opener?: string) => Effect.Effect<Settings, StartError>

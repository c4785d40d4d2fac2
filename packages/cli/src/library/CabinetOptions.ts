/** The options of `openCabinet`, which reads no environment variables and changes no global state. */
import type { UrlStyle } from "@data-cabinet/core/destination/S3Settings"
import { Effect } from "effect"
import { readSettings, type SettingSources } from "../settings/ReadSettings.ts"
import { type SettingName, SETTINGS, type Settings } from "../settings/Settings.ts"
import { StartError } from "../error/StartError.ts"
import type { ProgramSignIn, WhoIs } from "@data-cabinet/http-node/session/ExternalSignIn"
import type { ProgramLog } from "./HostLog.ts"

/** The cabinet's location and behaviour; everything has a default. */
export interface OpenCabinetOptions {
  /** The URL of a PostgreSQL 15 to 18: `postgres://user:password@host/database`. Default: an embedded PostgreSQL. */
  readonly databaseUrl?: string | undefined
  /**
   * A file with the CA certificates that the server's certificate is verified against. Sessions are then encrypted, and the
   * server's name is verified, unless `databaseUrl` has an `sslmode`.
   */
  readonly databaseCa?: string | undefined
  /** Where the embedded PostgreSQL keeps its data. Default `.cabinet`. */
  readonly dataDir?: string | undefined
  /** A directory with the programs of a PostgreSQL 15 to 18 to run as the embedded one. Default: the one installed by npm. */
  readonly postgresBin?: string | undefined
  /**
   * The local port on which the login for reports reads the embedded PostgreSQL. It applies when the database starts.
   * Default: no port.
   */
  readonly postgresPort?: number | undefined
  /**
   * The cabinet's public URL, which may have a path. The database keeps it for processes without this setting. Without it,
   * intake addresses begin with the kept one, or else with `http://127.0.0.1:8080`, and the handlers expect to be mounted
   * at `/`.
   */
  readonly baseUrl?: string | undefined
  /**
   * Whether this process also sends deliveries and runs polls. Default true; set it to false if `cabinet worker` or another
   * process does.
   */
  readonly delivery?: boolean | undefined
  /**
   * How many connections the cabinet may open for its own work, at least 4. Default 10. Two more write accepted events. The
   * reader has its own, `maxReaderConnections`, and three quarters as many for views. All are opened on demand and closed
   * after a minute without use.
   */
  readonly maxConnections?: number | undefined
  /** How many reads of rows may run at the same time, each on a connection. Default 8. */
  readonly maxReaderConnections?: number | undefined
  /** The logger: `console`, or one with the same methods. Default: warnings and errors go to `console`. */
  readonly log?: ProgramLog | undefined
  /** Login of the reader role, if the database's user may not create roles. */
  readonly readerUrl?: string | undefined
  /** Login of the author role, if the database's user may not create roles. */
  readonly authorUrl?: string | undefined
  /** A streaming standby to read rows from; login and database are the primary's. */
  readonly readUrl?: string | undefined
  /** The most that the standby may lag, in milliseconds; beyond it, rows are read from the primary. Default 5,000. */
  readonly readLagMillis?: number | undefined
  /** The time zone in which the days of a period begin. Default `UTC`. */
  readonly timeZone?: string | undefined
  /** The target of `/api/v1/docs`. Default: the bundled reference page. */
  readonly docsUrl?: string | undefined
  /** Origins whose pages may use the APIs with a key or a token, such as `https://app.example.com`. Default none. */
  readonly apiOrigins?: ReadonlyArray<string> | undefined
  /** Proxies trusted to report a client's address, as addresses and networks. Default none. */
  readonly trustedProxies?: ReadonlyArray<string> | undefined
  /**
   * Keys of 32 bytes in base64, separated by commas. They encrypt the secrets in the database; new values use the first
   * key. Default: no encryption.
   */
  readonly secretKey?: string | undefined
  /** Networks that deliveries and polls may reach although they are not public. Default none. */
  readonly allowedNetworks?: ReadonlyArray<string> | undefined
  /** The directory below which destinations may write events as files. Default: none may. */
  readonly destinationRoot?: string | undefined
  /** The directory for files of old events, or `s3://BUCKET/PREFIX`, the same for every process. Default: events stay in the database. */
  readonly coldStore?: string | undefined
  /** The URL of the S3 service of `coldStore`. Default: Amazon's in the region. */
  readonly coldEndpoint?: string | undefined
  /** The region of the bucket. Default `us-east-1`. */
  readonly coldRegion?: string | undefined
  /** Where URLs name the bucket. Default: the path with `coldEndpoint`, otherwise the host name. */
  readonly coldUrlStyle?: UrlStyle | undefined
  /** The id of the access key for the bucket of `coldStore`. */
  readonly awsAccessKeyId?: string | undefined
  /** The secret of that key. */
  readonly awsSecretAccessKey?: string | undefined
  /** The session token, if that key is temporary. */
  readonly awsSessionToken?: string | undefined
  /** The age in days at which events move into files. Default 180. */
  readonly coldAfter?: number | undefined
  /** API requests per minute for each key. Default 120. */
  readonly apiRate?: number | undefined
  /** Intake requests a minute for each source and client address; 0 for no limit. Default 60. */
  readonly intakeRate?: number | undefined
  /** The largest body that intake accepts. Default 1,048,576. */
  readonly intakeMaxBytes?: number | undefined
  /** Time limit for a read query, in milliseconds. Default 8,000. */
  readonly statementTimeoutMillis?: number | undefined
  /** How long a reader's query may wait for a lock, in milliseconds. Default 2,000. */
  readonly lockTimeoutMillis?: number | undefined
  /** Whether rows can be read through the API. Default true. */
  readonly reading?: boolean | undefined
  /** How many days original requests are kept; events and rows stay. Default 90. */
  readonly retentionDays?: number | undefined
  /** How many days delivered attempts and successful poll runs are kept. Default 30. */
  readonly logDays?: number | undefined
  /** How many days failed attempts and poll runs are kept, at least `logDays`. Default 90. */
  readonly failedLogDays?: number | undefined
  /** How many days the audit log is kept. Default 400. */
  readonly auditDays?: number | undefined
  /** Whether the console's screens are served below `/console/`, and how people sign in. Default true. */
  readonly console?: boolean | ConsoleOptions | undefined
}

/** How people sign in to the console and the management API. */
export interface ConsoleOptions {
  /**
   * Identifies the sender of a request to the console or the management API. The program's own login then replaces the
   * console's sign-in page. Return null if nobody is signed in. An exception or an unknown role denies access.
   */
  readonly whoIs?: WhoIs | undefined
  /** A sentence that explains to visitors where and how to sign in. */
  readonly signInHint?: string | undefined
}

type OptionName = keyof OpenCabinetOptions

type Form<A> = (value: A) => string | undefined

const text: Form<string | undefined> = (value) => value
const list: Form<ReadonlyArray<string> | undefined> = (values) => values?.join(",")
const onOff: Form<boolean | undefined> = (value) => (value === undefined ? undefined : value ? "on" : "off")
const millis: Form<number | undefined> = (value) => (value === undefined ? undefined : `${value}ms`)
const number: Form<number | undefined> = (value) => (value === undefined ? undefined : String(value))

/** An option in milliseconds says so in its name. */
type SettingOf<Name extends string> = Name extends `${infer Setting}Millis` ? Setting : Name

const settingOf = (name: string): string => name.replace(/Millis$/, "")

/** The text that each option's setting is read from; null for an option that is no setting of the command. */
const FORMS: {
  readonly [Name in OptionName]-?: SettingOf<Name> extends SettingName ? Form<OpenCabinetOptions[Name]> : null
} = {
  databaseUrl: text,
  databaseCa: text,
  dataDir: text,
  postgresBin: text,
  postgresPort: number,
  baseUrl: text,
  delivery: null,
  maxConnections: null,
  maxReaderConnections: null,
  log: null,
  readerUrl: text,
  authorUrl: text,
  readUrl: text,
  readLagMillis: millis,
  timeZone: text,
  docsUrl: text,
  apiOrigins: list,
  trustedProxies: list,
  secretKey: text,
  allowedNetworks: list,
  destinationRoot: text,
  coldStore: text,
  coldEndpoint: text,
  coldRegion: text,
  coldUrlStyle: text,
  awsAccessKeyId: text,
  awsSecretAccessKey: text,
  awsSessionToken: text,
  coldAfter: number,
  apiRate: number,
  intakeRate: number,
  intakeMaxBytes: number,
  statementTimeoutMillis: millis,
  lockTimeoutMillis: millis,
  reading: onOff,
  retentionDays: number,
  logDays: number,
  failedLogDays: number,
  auditDays: number,
  console: (value) => onOff(value === undefined ? undefined : value !== false),
}

/** The options that are also settings of the command, as text that settings are parsed from. */
const asSettings = (options: OpenCabinetOptions): SettingSources["given"] =>
  Object.fromEntries(
    Object.entries<Form<never> | null>(FORMS).flatMap(([name, form]) =>
      form === null ? [] : [[settingOf(name), form(options[name as OptionName] as never)]],
    ),
  )

const refuse = (message: string) => Effect.fail(new StartError({ code: "bad_setting", message }))

/** One connection listens and an import holds another; with fewer than this, the cabinet would wait for itself. */
const MIN_CONNECTIONS = 4

const checkPool = (name: OptionName, value: number | undefined, least: number) =>
  value === undefined || (Number.isInteger(value) && value >= least && value <= 1000)
    ? Effect.void
    : refuse(`${name} is ${String(value)}: it must be an integer from ${least} to 1000.`)

const isPlainObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value)

/** Checks the options of the console, because without types a misspelt `whoIs` would leave its own sign-in open. */
const checkConsole = (value: unknown): Effect.Effect<void, StartError> => {
  if (value === undefined || typeof value === "boolean") return Effect.void
  if (!isPlainObject(value)) return refuse("console must be true, false, or an object with whoIs.")
  const unknown = Object.keys(value).find((name) => name !== "whoIs" && name !== "signInHint")
  if (unknown !== undefined) return refuse(`console has no option ${unknown}.`)
  const { whoIs, signInHint } = value as Readonly<Record<string, unknown>>
  if (whoIs !== undefined && typeof whoIs !== "function") return refuse("console.whoIs must be a function.")
  const isHint = signInHint === undefined || (typeof signInHint === "string" && signInHint.trim() !== "")
  if (!isHint) return refuse("console.signInHint must be a non-empty text.")
  return signInHint !== undefined && whoIs === undefined
    ? refuse("console.signInHint requires console.whoIs: it is shown to people whom whoIs does not know.")
    : Effect.void
}

/** Undefined unless the program identifies people itself. */
export const programSignIn = ({ console: given }: Pick<OpenCabinetOptions, "console">): ProgramSignIn | undefined =>
  typeof given === "object" && given.whoIs !== undefined
    ? { whoIs: given.whoIs, hint: given.signInHint ?? null }
    : undefined

const FLAGS: ReadonlyMap<string, string> = new Map(Object.entries(SETTINGS).map(([name, { flag }]) => [name, flag]))

/** Names options in a message of the command, which names flags. */
const inOptionWords = (error: StartError): StartError => {
  for (const option of Object.keys(FORMS)) {
    const flag = FLAGS.get(settingOf(option))
    if (flag === undefined || !error.message.startsWith(`--${flag} `)) continue
    return new StartError({ code: error.code, message: `${option}${error.message.slice(flag.length + 2)}` })
  }
  return error
}

/** Converts the options to settings, with the checks and the messages of the command. */
export const settingsFrom = Effect.fnUntraced(function* (options: OpenCabinetOptions, opener = "openCabinet") {
  const unknown = Object.keys(options).find((name) => !Object.hasOwn(FORMS, name))
  // A misspelt databaseUrl would open an embedded database instead.
  if (unknown !== undefined) return yield* refuse(`${opener} has no option ${unknown}.`)
  yield* checkPool("maxConnections", options.maxConnections, MIN_CONNECTIONS)
  yield* checkPool("maxReaderConnections", options.maxReaderConnections, 1)
  yield* checkConsole(options.console)
  return yield* Effect.mapError(readSettings({ given: asSettings(options), env: {} }), inOptionWords)
}) satisfies (options: OpenCabinetOptions, opener?: string) => Effect.Effect<Settings, StartError>

/** The command `cabinet` itself: the flags that every command takes, and how a command opens its cabinet. */
import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import { BaseAddress, type BaseUrl } from "@data-cabinet/core/source/BaseAddress"
import { RemoteRefusal, RequestShown } from "@data-cabinet/remote/http/RemoteRefusal"
import { RemoteSettings } from "@data-cabinet/remote/http/RemoteSettings"
import * as RemoteCabinet from "@data-cabinet/remote/RemoteCabinet"
import { Effect, Layer, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { type CabinetDatabase, cabinetDatabase, type DatabaseRole } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { remoteAccess } from "../compose/RemoteAccess.ts"
import { knownBaseUrl } from "../settings/BaseUrl.ts"
import { askForCabinet, cabinetUrl, resolveTenant } from "../tenancy/ResolveTenant.ts"
import { readSettings, type SettingSources } from "../settings/ReadSettings.ts"
import { type SettingName, SETTINGS, type Settings } from "../settings/Settings.ts"
import * as Log from "../output/Log.ts"
import { type Format, printLine } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { givenBy, refusePasswords, ownSettings } from "./GivenSettings.ts"
import { whoRunsThis } from "./CommandUser.ts"

const flagOf = (name: SettingName): Flag.Flag<Option.Option<string>> => {
  const { flag, env, about, fallback, value } = SETTINGS[name]
  const usual = fallback === null ? "" : fallback === "" ? "; default: none" : `; default: ${fallback}`
  return Flag.String(flag).pipe(
    Flag.withMetavar(value),
    Flag.withDescription(`${about} (${env}${usual})`),
    Flag.optional,
  )
}

type SettingFlags<Name extends SettingName> = { readonly [N in Name]: Flag.Flag<Option.Option<string>> }

/** The flags of some settings, each optional, to be read by `settingsOf`. */
export const settingFlags = <const Name extends SettingName>(...names: ReadonlyArray<Name>): SettingFlags<Name> =>
  Object.fromEntries(names.map((name) => [name, flagOf(name)])) as unknown as SettingFlags<Name>

/** The settings that select the cabinet: on every command. */
const PLACE = ["databaseUrl", "dataDir"] as const

/** The names of the flags that every command takes. */
export const SHARED_FLAGS: ReadonlyArray<string> = [
  "json",
  "get",
  "cabinet",
  "server",
  "curl",
  "help",
  "version",
  ...PLACE.map((name) => SETTINGS[name].flag),
]

export const root = Command.make("cabinet").pipe(
  Command.withDescription(
    "Accepts data from other systems and serves it as tables, an event feed and signed deliveries.",
  ),
  Command.withSharedFlags({
    json: Flag.Boolean("json").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Print a single JSON document"),
      Flag.withDefault(false),
    ),
    get: Flag.String("get").pipe(
      Flag.withMetavar("PATH"),
      Flag.withDescription("Print one value of the JSON document, such as id or table.name, for scripts"),
      Flag.optional,
    ),
    cabinet: Flag.String("cabinet").pipe(
      Flag.withMetavar("NAME"),
      Flag.withDescription("The cabinet to use on a multi-tenant server"),
      Flag.optional,
    ),
    server: Flag.String("server").pipe(
      Flag.withMetavar("URL"),
      Flag.withDescription("Base URL of a cabinet on another machine, with an access token in CABINET_TOKEN"),
      Flag.optional,
    ),
    curl: Flag.Boolean("curl").pipe(
      Flag.withoutNegation,
      Flag.withDescription("With --server: print the request as a curl command instead of sending it"),
      Flag.withDefault(false),
    ),
    ...settingFlags(...PLACE),
  }),
)

const placeFlags = Effect.map(root, ({ databaseUrl, dataDir }) => ({ databaseUrl, dataDir }))

/** The format in which the command's result is printed. */
export const format = Effect.map(root, ({ json, get }): Format => (Option.isSome(get) ? { path: get.value } : json))

const HERE_ONLY = "This command works on the machine of the cabinet itself: leave --server out."

const refuseServer = Effect.gen(function* () {
  const { server, curl } = yield* root
  const refused = Option.isSome(server)
    ? HERE_ONLY
    : curl
      ? "--curl shows a request to a server: give --server URL."
      : null
  if (refused !== null) return yield* new CommandError({ code: "usage", message: refused })
})

/** The settings of this call on the cabinet's own machine: `own` are the command's flags; those named like settings count. */
export const settingsOf = (own: Readonly<Record<string, unknown>> = {}) =>
  Effect.gen(function* () {
    yield* refuseServer
    const given = givenBy(yield* placeFlags, ownSettings(own))
    yield* refusePasswords(given)
    const sources = { given, env: process.env }
    return { settings: yield* readSettings(sources), sources }
  })

/** The database of the selected cabinet: the server's own, or that of `--cabinet NAME`. */
export const selectedDatabase = (settings: Settings, role: DatabaseRole = "join") =>
  Effect.gen(function* () {
    const { cabinet } = yield* root
    const own = yield* cabinetDatabase(settings, Option.isNone(cabinet) ? role : "join")
    return Option.isNone(cabinet) ? own : yield* resolveTenant(own, cabinet.value, settings, { changes: true })
  })

/** For commands about a whole server: a cabinet's name would have no effect. */
export const noCabinet = (why: string) =>
  Effect.gen(function* () {
    yield* refuseServer
    const { cabinet } = yield* root
    if (Option.isSome(cabinet)) {
      return yield* new CommandError({ code: "usage", message: `${why}: leave --cabinet out.` })
    }
  })

export const quietLog = (settings: Pick<Settings, "logLevel" | "logFormat">) =>
  Log.layer({ level: settings.logLevel ?? "warn", format: settings.logFormat })

/** How a command opens its cabinet, if it differs from the default. */
export interface CabinetUse {
  /** `create`: the embedded database is created if missing. */
  readonly role?: DatabaseRole
  /** On a server of many cabinets the command may concern the server's own database. */
  readonly ofServer?: boolean
}

/** Runs a command's work over the database of its cabinet, beside a running server or without one. */
export const withDatabase = <A, E, R>(
  own: Readonly<Record<string, unknown>>,
  work: (database: CabinetDatabase, settings: Settings) => Effect.Effect<A, E, R>,
  { role = "join", ofServer = false }: CabinetUse = {},
) =>
  Effect.gen(function* () {
    const { settings, sources } = yield* settingsOf(own)
    return yield* Effect.gen(function* () {
      const database = yield* selectedDatabase(settings, role)
      const cabinet = cabinetLayer({ ...database, settings, delivers: false, maxConnections: 4 })
      const address = Layer.sync(BaseAddress, () => ({
        get: Effect.sync(() => baseUrlFor(database, settings, sources)),
      }))
      const prompt = database.cabinet === null && !ofServer ? askForCabinet(database, settings) : Effect.void
      return yield* Effect.provide(
        Effect.andThen(
          prompt,
          Effect.provideService(
            Effect.suspend(() => work(database, settings)),
            CurrentActor,
            whoRunsThis(),
          ),
        ),
        Layer.merge(cabinet, address),
      )
    }).pipe(Effect.scoped, Effect.provide(quietLog(settings)))
  })

const baseUrlFor = (database: CabinetDatabase, settings: Settings, sources: SettingSources): BaseUrl =>
  database.cabinet === null
    ? knownBaseUrl(settings, database.recordedBaseUrl, sources)
    : tenantBaseUrl(settings, database.cabinet, database.recordedBaseUrl)

/** Its server's domain makes the address, and the tenant's own database has its server's record. */
const tenantBaseUrl = (settings: Settings, name: string, noted: string | null): BaseUrl => {
  const known = settings.serviceDomain !== null || settings.baseUrl !== null
  return !known && noted !== null ? { url: noted, known: true } : { url: cabinetUrl(settings, name), known }
}

/** Settings that a server decides for itself, and names of local cabinets, have no effect on a remote one. */
const refuseLocalFlags = (own: Readonly<Record<string, unknown>>) =>
  Effect.gen(function* () {
    const { cabinet } = yield* root
    const given = givenBy(yield* placeFlags, ownSettings(own))
    const first = Object.keys(given).find((name) => given[name as SettingName] !== undefined)
    if (first !== undefined) {
      const message = `--${SETTINGS[first as SettingName].flag} is a setting of the cabinet's own machine: leave it out with --server.`
      return yield* new CommandError({ code: "usage", message })
    }
    if (Option.isNone(cabinet)) return
    const message =
      "With --server a cabinet is named by its address, such as https://NAME.example.com: leave --cabinet out."
    return yield* new CommandError({ code: "usage", message })
  })

const overServer = <A, E, R>(
  server: string,
  own: Readonly<Record<string, unknown>>,
  work: () => Effect.Effect<A, E, R>,
) =>
  Effect.gen(function* () {
    yield* refuseLocalFlags(own)
    const { curl } = yield* root
    const access = yield* remoteAccess(server, process.env, curl)
    const settings = yield* readSettings({ given: {}, env: logging(process.env) })
    const remote = RemoteCabinet.layer.pipe(
      Layer.provide(Layer.succeed(RemoteSettings, { ...access, show: curl ? printLine : null })),
    )
    return yield* Effect.suspend(work).pipe(
      Effect.provide(remote),
      Effect.catchDefect((defect): Effect.Effect<A | undefined, CommandError> => {
        if (defect instanceof RequestShown) return Effect.succeed(undefined)
        if (!(defect instanceof RemoteRefusal)) return Effect.die(defect)
        return Effect.fail(new CommandError({ code: "refused", message: defect.message }))
      }),
      Effect.provide(quietLog(settings)),
    )
  })

/** The settings of databases and servers in the environment are of no concern to a client. */
const logging = ({ LOG_LEVEL, LOG_FORMAT }: NodeJS.ProcessEnv): NodeJS.ProcessEnv => ({ LOG_LEVEL, LOG_FORMAT })

/** Runs a command's work over its cabinet: here, or with `--server` on another machine. */
export const withCabinet = <A, E, R>(
  own: Readonly<Record<string, unknown>>,
  work: () => Effect.Effect<A, E, R>,
  use: CabinetUse = {},
) =>
  Effect.gen(function* () {
    const { server } = yield* root
    if (Option.isSome(server)) return yield* overServer(server.value, own, work)
    return yield* withDatabase(own, work, use)
  })

/** Ids of sources, keys, addresses, events and deliveries. */
export const idArgument = (name: string, about: string) =>
  Argument.Int(name).pipe(
    Argument.filter(
      (id) => Number.isSafeInteger(id) && id > 0,
      () => `${name} must be a positive integer`,
    ),
    Argument.withDescription(about),
  )

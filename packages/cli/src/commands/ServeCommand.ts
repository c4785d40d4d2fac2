/**
 * `cabinet serve` and `cabinet worker`: the long-running processes. A signal shuts them down gracefully, a second one at
 * once.
 */
import { VERSION } from "@data-cabinet/core/diagnostics/Version"
import { Effect, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { cabinetDatabase } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { secretSettings, SETTINGS, type SettingName, type Settings } from "../settings/Settings.ts"
import { staysUntilSignal } from "../process/Signals.ts"
import { describeUrl } from "../compose/OpenDatabase.ts"
import { buildAfresh, START_TIMEOUT_MILLIS, startSteps } from "../compose/WaitForDatabase.ts"
import { workerNumber } from "../process/Worker.ts"
import * as Log from "../output/Log.ts"
import * as Traces from "../output/Traces.ts"
import { report } from "../output/Report.ts"
import { format, noCabinet, settingFlags, settingsOf } from "./Root.ts"
import { userName } from "./CommandUser.ts"
import { startupBanner, startupJson } from "./StartupBanner.ts"

/** All settings except those that every command has. */
const OWN = (Object.keys(SETTINGS) as ReadonlyArray<SettingName>).filter(
  (name) => name !== "databaseUrl" && name !== "dataDir" && !secretSettings.includes(name),
)

/** Loaded by the processes that need it: HTTP and the console are of no use to other commands. */
const server = Effect.promise(() => import("../process/Serve.ts"))
const tenancy = Effect.promise(() => import("../tenancy/OpenTenants.ts"))
const background = Effect.promise(() => import("../compose/WorkLayer.ts"))

const without = (flag: string, about: string) =>
  Flag.Boolean(flag).pipe(Flag.withoutNegation, Flag.withDescription(about), Flag.withDefault(false))

const telemetry = ({ logLevel, logFormat, otlpEndpoint }: Settings) =>
  Layer.mergeAll(Log.layer({ level: logLevel ?? "info", format: logFormat }), Traces.layer(otlpEndpoint))

/** Waits for a signal, then logs that it is stopping, for closing may take a few seconds. */
const untilStopped = Effect.onInterrupt(Effect.never, () => Effect.logInfo("stopping: finishing requests in progress"))

/** For a stored log, which has no banner: a line with the address and version of the started process. */
const recordStart = ({ logFormat }: Settings, message: string, where: Readonly<Record<string, string | null>>) =>
  Log.isJson(logFormat)
    ? Effect.annotateLogs(Effect.logInfo(message), { version: VERSION, node: process.versions.node, ...where })
    : Effect.void

const SERVE = "Serve a cabinet: intake, API, console, deliveries and maintenance in one process"

const WHOLE = "A server serves all its cabinets, or the one in the database given with --database-url"

export const serveCommand = Command.make(
  "serve",
  {
    ...settingFlags(...OWN),
    noDelivery: without("no-delivery", "Do not send deliveries; other processes do (cabinet worker)"),
    noPoll: without("no-poll", "Do not run polls; other processes do (cabinet worker)"),
  },
  (input) =>
    Effect.gen(function* () {
      yield* staysUntilSignal
      yield* noCabinet(WHOLE)
      const { settings } = yield* settingsOf(input)
      const json = yield* format
      const worker = workerNumber()
      const { serve, serveAsWorker } = yield* server
      yield* Effect.gen(function* () {
        const options = { settings, delivery: !input.noDelivery, poll: !input.noPoll }
        if (worker !== null) yield* serveAsWorker(options)
        else {
          // A secret must not end up in a stored log; a program that requests the JSON document gets it.
          const isSeen = json !== false || process.stdout.isTTY
          const served = yield* serve({ ...options, firstOwner: isSeen ? userName() : null })
          yield* recordStart(settings, `Data Cabinet ${VERSION} is running at ${served.baseUrl}`, {
            url: served.baseUrl,
            data_dir: served.database.dataDir,
          })
          if (json !== false || settings.logFormat !== "json") {
            yield* report(json, startupJson(served), (style) => startupBanner(served, style))
          }
        }
        yield* untilStopped
      }).pipe(
        Effect.scoped,
        worker === null ? (self) => self : Effect.annotateLogs({ worker }),
        Effect.provide(telemetry(settings)),
      )
    }),
).pipe(
  Command.withDescription(
    `${SERVE}. Only from the environment: ${secretSettings.map((name) => `${SETTINGS[name].env} (${SETTINGS[name].about})`).join("; ")}`,
  ),
  Command.withShortDescription(SERVE),
)

export const workerCommand = Command.make(
  "worker",
  settingFlags(
    "readerUrl",
    "authorUrl",
    "databaseCa",
    "serviceDomain",
    "allowedNetworks",
    "destinationRoot",
    "coldStore",
    "coldEndpoint",
    "coldRegion",
    "coldUrlStyle",
    "coldAfter",
    "retentionDays",
    "logDays",
    "failedLogDays",
    "auditDays",
    "otlpEndpoint",
    "logLevel",
    "logFormat",
  ),
  (input) =>
    Effect.gen(function* () {
      yield* staysUntilSignal
      yield* noCabinet(WHOLE)
      const { settings } = yield* settingsOf(input)
      const json = yield* format
      yield* Effect.gen(function* () {
        const database = yield* cabinetDatabase(settings, "join", { waitMillis: START_TIMEOUT_MILLIS })
        const { serviceDomain } = settings
        if (serviceDomain === null) {
          const step = yield* startSteps(describeUrl(database.url))
          const cabinet = yield* step(buildAfresh(cabinetLayer({ ...database, settings, delivers: true })))
          const { maintenanceLayer, pollingLayer, workLayer } = yield* background
          const work = Layer.mergeAll(maintenanceLayer, pollingLayer, workLayer(settings))
          yield* Layer.build(Layer.provide(work, Layer.succeedContext(cabinet)))
        } else {
          const { openTenants } = yield* tenancy
          yield* openTenants({ database, settings, serviceDomain, delivers: true, polls: true })
        }
        const words = "Running deliveries and maintenance. Stop with Ctrl-C."
        yield* recordStart(settings, `Data Cabinet ${VERSION} is working`, { data_dir: database.dataDir })
        if (json !== false || settings.logFormat !== "json") {
          yield* report(json, { working: true, data_dir: database.dataDir }, () => words)
        }
        yield* untilStopped
      }).pipe(Effect.scoped, Effect.provide(telemetry(settings)))
    }),
).pipe(
  Command.withDescription(
    "Run deliveries, polls and maintenance without an HTTP server, alongside servers run with --no-delivery",
  ),
)

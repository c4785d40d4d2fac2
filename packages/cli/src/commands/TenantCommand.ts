/** `cabinet tenant …`: the cabinets of a server of many. */
import { CabinetRegistry, type RegisteredCabinet } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Effect, Option, Result } from "effect"
import { Argument, Command } from "effect/cli"
import { moveTenant, addTenant } from "../tenancy/Tenants.ts"
import { cabinetDatabase } from "../compose/CabinetDatabase.ts"
import { describeUrl } from "../compose/OpenDatabase.ts"
import { cabinetUrl, registryLayer } from "../tenancy/ResolveTenant.ts"
import { tenantDatabaseUrl } from "../settings/SettingForm.ts"
import { readSettings } from "../settings/ReadSettings.ts"
import type { Settings } from "../settings/Settings.ts"
import { columns } from "../output/Columns.ts"
import { report } from "../output/Report.ts"
import { CommandError } from "../error/CommandError.ts"
import { withHints } from "./Hints.ts"
import { format, noCabinet, quietLog, root, settingFlags, settingsOf } from "./Root.ts"
import { givenBy, holdsPassword } from "./GivenSettings.ts"

import { readSecretLine, secretFile } from "./SecretInput.ts"
import { EXAMPLES } from "./Examples.ts"

/** Contains no login. */
const cabinetJson = (settings: Settings, cabinet: RegisteredCabinet) => ({
  name: cabinet.name,
  base_url: cabinetUrl(settings, cabinet.name),
  database: describeUrl(cabinet.databaseUrl),
  created_at: cabinet.createdAt,
})

const withRegistry = <A, E>(settings: Settings, work: Effect.Effect<A, E, CabinetRegistry>) =>
  Effect.gen(function* () {
    const own = yield* cabinetDatabase(settings, "join")
    return yield* Effect.provide(work, registryLayer(own))
  }).pipe(Effect.scoped, Effect.provide(quietLog(settings)))

const own = noCabinet("The list of cabinets belongs to the server, and the cabinet's name is an argument here")

const web = settingFlags("baseUrl", "serviceDomain")
const name = Argument.String("NAME").pipe(Argument.withDescription("First label of the cabinet's host name"))

const databaseUrlFile = secretFile(
  "database-url-file",
  "A file with its database URL, for one that contains a password; - for standard input or a prompt",
)

/** The URL of the new cabinet's database; null if it is to be created. */
const databaseUrlOf = Effect.fnUntraced(function* (
  flag: Option.Option<string>,
  file: Option.Option<string>,
  certificates: string | null,
) {
  if (Option.isSome(flag) && Option.isSome(file)) {
    return yield* new CommandError({
      code: "usage",
      message: "Either --database-url or --database-url-file, not both.",
    })
  }
  if (holdsPassword(Option.getOrUndefined(flag))) {
    const message =
      "--database-url holds a password, which every user of this machine can read in the process list. Put the URL into a file and pass it with --database-url-file, or pass --database-url-file - and enter it."
    return yield* new CommandError({ code: "usage", message })
  }
  const given = Option.isSome(file) ? yield* readSecretLine(file.value, "The database URL") : null
  const url = given ?? Option.getOrNull(flag)
  if (url === null) return null
  const read = tenantDatabaseUrl(certificates)(url)
  if (Result.isSuccess(read)) return read.success
  const called = given === null ? "--database-url" : "The URL in --database-url-file"
  return yield* new CommandError({ code: "refused", message: `${called} must be ${read.failure}` })
})

/** For a database that could not be created. */
const GIVE_URL = {
  database_taken: "--database-url names the database to use.",
  database_not_made: "--database-url names the database to use.",
}

/** Here the flag holds the new cabinet's URL; the server's own is given by DATABASE_URL or the data directory. */
const add = Command.make("add", { name, databaseUrlFile, ...web }, (input) =>
  Effect.gen(function* () {
    yield* own
    const place = yield* root
    const given = givenBy({ dataDir: place.dataDir }, { baseUrl: input.baseUrl, serviceDomain: input.serviceDomain })
    const settings = yield* readSettings({ given, env: process.env })
    const url = yield* databaseUrlOf(place.databaseUrl, input.databaseUrlFile, settings.databaseCa)
    const value = cabinetJson(
      settings,
      yield* withRegistry(settings, addTenant(input.name, url)).pipe(withHints(url === null ? GIVE_URL : {})),
    )
    const words = `Cabinet ${value.name} is served at ${value.base_url}; its database is ${value.database}. Commands reach it with --cabinet ${value.name}.`
    yield* report(yield* format, value, () => words)
  }),
).pipe(
  Command.withDescription(
    "Add a cabinet to the server; without a database URL, its database is created on the server's PostgreSQL",
  ),
)

const list = Command.make("list", { ...web }, (input) =>
  Effect.gen(function* () {
    yield* own
    const { settings } = yield* settingsOf(input)
    const all = yield* withRegistry(
      settings,
      CabinetRegistry.use((registry) => registry.list),
    )
    const values = all.map((cabinet) => cabinetJson(settings, cabinet))
    yield* report(yield* format, values, (style) =>
      columns(
        ["NAME", "ADDRESS", "DATABASE", "SINCE"],
        values.map((one) => [one.name, one.base_url, one.database, one.created_at]),
        { style, none: "No cabinets but the server's own. Add one with: cabinet tenant add NAME" },
      ),
    )
  }),
).pipe(Command.withDescription("List the cabinets"))

const remove = Command.make("remove", { name, ...web }, (input) =>
  Effect.gen(function* () {
    yield* own
    const { settings } = yield* settingsOf(input)
    const removed = yield* withRegistry(
      settings,
      CabinetRegistry.use((registry) => registry.remove(input.name)),
    )
    const value = { ...cabinetJson(settings, removed), removed: true }
    const words = `Cabinet ${value.name} is no longer served; its database ${value.database} is unchanged.`
    yield* report(yield* format, value, () => words)
  }),
).pipe(Command.withDescription("Remove a cabinet from the server; its database is kept"))

const targetFile = secretFile(
  "database-url-file",
  "A file with the URL of the empty database to move to; - for standard input or a prompt",
)

const move = Command.make("move", { name, targetFile, ...web }, (input) =>
  Effect.gen(function* () {
    yield* own
    const place = yield* root
    const given = givenBy({ dataDir: place.dataDir }, { baseUrl: input.baseUrl, serviceDomain: input.serviceDomain })
    const settings = yield* readSettings({ given, env: process.env })
    const url = yield* databaseUrlOf(place.databaseUrl, input.targetFile, settings.databaseCa)
    if (url === null) {
      const message =
        "tenant move requires the URL of the database to move to: --database-url, or --database-url-file for one with a password."
      return yield* new CommandError({ code: "usage", message })
    }
    const { before, after } = yield* withRegistry(
      settings,
      moveTenant(input.name, url, settings.postgresBin ?? undefined),
    )
    const from = describeUrl(before.databaseUrl)
    const value = { ...cabinetJson(settings, after), moved_from: from }
    const words = `Cabinet ${value.name} is now in ${value.database}; servers follow within ten seconds. The database at ${from} is kept as it was and no longer accepts data: drop it when you have checked the new one.`
    yield* report(yield* format, value, () => words)
  }),
).pipe(
  Command.withDescription(
    "Move a cabinet into an empty database on another server; its intake responds with 503 meanwhile. Requires pg_dump and pg_restore",
  ),
)

export const tenantCommand = Command.make("tenant").pipe(
  Command.withExamples(EXAMPLES.tenant),
  Command.withDescription("Add, move and remove cabinets on a multi-tenant server"),
  Command.withSubcommands([add, list, move, remove]),
)

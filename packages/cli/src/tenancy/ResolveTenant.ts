/** Finds one cabinet of a server of many by its name: for commands, and for the cabinet's base URL. */
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import * as PgRegistryStore from "@data-cabinet/store-pg/tenancy/PgRegistryStore"
import { dueByCommand } from "@data-cabinet/store-pg/tenancy/PgRegistryDue"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { Effect, Layer } from "effect"
import type { CabinetDatabase } from "../compose/CabinetDatabase.ts"
import { StartError } from "../error/StartError.ts"
import { Sources } from "@data-cabinet/core/source/Sources"
import { openDatabase } from "../compose/OpenDatabase.ts"
import type { Settings } from "../settings/Settings.ts"

const registryOver = (url: string) => CabinetRegistry.layer.pipe(Layer.provideMerge(PgRegistryStore.layer({ url })))

/** The registry in a server's own database. */
export const registryLayer = ({ url }: Pick<CabinetDatabase, "url">) =>
  registryOver(url).pipe(Layer.provideMerge(OwnerClient.layer({ url, maxConnections: 3 })))

/**
 * The database of one of the server's cabinets, opened and brought up to date. `changes`: the work in the scope may
 * leave something to do, such as a delivery, so a worker checks the cabinet afterwards.
 */
export const resolveTenant = Effect.fnUntraced(function* (
  own: CabinetDatabase,
  name: string,
  { secretKey: cipher }: Pick<Settings, "secretKey">,
  { changes }: { readonly changes: boolean },
) {
  const noted = (state: "begun" | "done") =>
    // A database that may only be read has no work for a worker either.
    changes ? Effect.ignore(dueByCommand(name, state), { log: "Debug" }) : Effect.void
  const { databaseUrl } = yield* Effect.provide(
    CabinetRegistry.use((registry) => Effect.tap(registry.find(name), () => noted("begun"))),
    registryLayer(own),
  )
  yield* Effect.addFinalizer(() =>
    Effect.ignore(Effect.provide(noted("done"), OwnerClient.layer({ url: own.url, maxConnections: 1 }))),
  )
  const opened = yield* openDatabase({ url: databaseUrl, cipher })
  const database: CabinetDatabase = { ...opened, url: databaseUrl, dataDir: own.dataDir, cabinet: name }
  return database
})

/**
 * Fails on a server of many cabinets whose own database is not a cabinet: a command without a cabinet's name would
 * write to a database that is not served, or find it empty. A server's own database is accepted if it has sources,
 * because then it is a cabinet as well.
 */
export const askForCabinet = Effect.fnUntraced(function* (
  { url }: Pick<CabinetDatabase, "url">,
  { serviceDomain }: Pick<Settings, "serviceDomain">,
) {
  const registry = registryOver(url)
  const all = yield* Effect.provide(
    CabinetRegistry.use(({ list }) => list),
    registry,
  )
  if (serviceDomain === null && all.length === 0) return
  if ((yield* Sources.use(({ page }) => page({ after: 0, limit: 1 }))).length > 0) return
  const names =
    all.length === 0 ? "none yet: create one with cabinet tenant add NAME" : all.map(({ name }) => name).join(", ")
  const message = `This server has several cabinets: choose one with --cabinet NAME (${names}).`
  return yield* new StartError({ code: "which_cabinet", message })
})

/**
 * The base URL of a cabinet on a server of many: its name before the service's domain, over https, unless BASE_URL sets
 * another scheme and port for the whole service.
 */
export const cabinetUrl = ({ baseUrl, serviceDomain }: Pick<Settings, "baseUrl" | "serviceDomain">, name: string) => {
  const service = new URL(baseUrl ?? `https://${serviceDomain ?? "localhost"}`)
  const port = service.port === "" ? "" : `:${service.port}`
  return `${service.protocol}//${name}.${serviceDomain ?? service.hostname}${port}`
}

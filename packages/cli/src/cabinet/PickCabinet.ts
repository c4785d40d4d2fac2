/** One cabinet of a server of many, by its name: for commands, and for the address it is reached by. */
import { CabinetRegistry } from "@data-cabinet/core/cabinet/CabinetRegistry"
import * as PgCabinetRegistry from "@data-cabinet/store-pg/cabinet/PgCabinetRegistry"
import * as OwnerClient from "@data-cabinet/store-pg/connection/OwnerClient"
import { Effect, Layer } from "effect"
import type { CabinetDatabase } from "./CabinetDatabase.ts"
import { openDatabase } from "./OpenDatabase.ts"
import type { Settings } from "./Settings.ts"

/** The registry of the server whose own database this is. */
export const registryLayer = ({ url }: Pick<CabinetDatabase, "url">) =>
  PgCabinetRegistry.layer({ url }).pipe(Layer.provideMerge(OwnerClient.layer({ url, maxConnections: 3 })))

/** The database of one of its cabinets, opened and brought up to date. */
export const pickCabinet = Effect.fnUntraced(function* (own: CabinetDatabase, name: string) {
  const { databaseUrl } = yield* Effect.provide(
    CabinetRegistry.use((registry) => registry.find(name)),
    registryLayer(own),
  )
  const opened = yield* openDatabase({ url: databaseUrl })
  const database: CabinetDatabase = { ...opened, url: databaseUrl, dataDir: own.dataDir, cabinet: name }
  return database
})

/**
 * What a cabinet of many is reached by: its name before the service's domain, over https, unless BASE_URL names another
 * scheme and port for the service as a whole.
 */
export const cabinetUrl = ({ baseUrl, serviceDomain }: Pick<Settings, "baseUrl" | "serviceDomain">, name: string) => {
  const service = new URL(baseUrl ?? `https://${serviceDomain ?? "localhost"}`)
  const port = service.port === "" ? "" : `:${service.port}`
  return `${service.protocol}//${name}.${serviceDomain ?? service.hostname}${port}`
}

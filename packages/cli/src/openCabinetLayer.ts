/**
 * A cabinet inside an Effect program: one layer with every port and use case, and what an HTTP face needs. It works by
 * itself while it is open (deliveries, upkeep), listens nowhere, and lets everything go when its scope closes.
 *
 *   const cabinet = openCabinetLayer({ databaseUrl, baseUrl })
 *   const take = Intake.use((intake) => intake.accept(1, { total: "12.50" })).pipe(Effect.provide(cabinet))
 *   const server = Server.layer({ host: "127.0.0.1", port: 8080, metrics: true }).pipe(Layer.provide(cabinet))
 */
import { Effect, Layer } from "effect"
import { listeningUrl } from "./cabinet/BaseUrl.ts"
import { cabinetDatabase } from "./cabinet/CabinetDatabase.ts"
import { cabinetLayer } from "./cabinet/CabinetLayer.ts"
import { httpLayer } from "./cabinet/HttpLayer.ts"
import { housekeepingLayer, workLayer } from "./cabinet/WorkLayer.ts"
import { type OpenCabinetOptions, settingsFrom } from "./embedding/CabinetOptions.ts"

export type { CabinetServices } from "./cabinet/CabinetLayer.ts"
export type { StartError } from "./cabinet/StartError.ts"
export type { OpenCabinetOptions }

/**
 * Opens the cabinet, brings its database up to date, and provides `CabinetServices` (`Intake`, `Feed`, `SelectRows`,
 * `Sources`, `ApiKeys`, `Addresses` and all others of `@data-cabinet/core`) beside `Cabinets` and `Readiness` for
 * `@data-cabinet/http-node/Server`. Fails with a `StartError` in words. Logs go to the program's own logger; `log` is
 * for `openCabinet` only.
 */
export const openCabinetLayer = (options: Omit<OpenCabinetOptions, "log"> = {}) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const settings = yield* settingsFrom(options)
      const database = yield* cabinetDatabase(settings, "join")
      const delivers = options.delivery !== false
      const { maxConnections } = options
      const baseUrl = settings.baseUrl ?? listeningUrl(settings.host, settings.port)
      const work = delivers ? Layer.merge(housekeepingLayer, workLayer(settings)) : housekeepingLayer
      return Layer.merge(work, httpLayer({ baseUrl, settings })).pipe(
        Layer.provideMerge(cabinetLayer({ ...database, settings, delivers, maxConnections })),
      )
    }),
  )

/**
 * A cabinet inside an Effect program: one layer with every port and use case, and what an HTTP face needs. It works by
 * itself while it is open (deliveries, polls, upkeep), listens nowhere, and lets everything go when its scope closes.
 *
 *   const cabinet = openCabinetLayer({ databaseUrl, baseUrl })
 *   const take = Intake.use((intake) => intake.accept(1, { total: "12.50" })).pipe(Effect.provide(cabinet))
 *   const server = Server.layer({ host: "127.0.0.1", port: 8080, metrics: true }).pipe(Layer.provide(cabinet))
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is loaded for what it refuses
import "./library/Host.ts"
import type { Cabinets } from "@data-cabinet/http-node/tenancy/Cabinets"
import type { Readiness } from "@data-cabinet/http-node/server/Readiness"
import { Effect, Layer } from "effect"
import type { CabinetServices } from "./compose/CabinetLayer.ts"
import type { StartError } from "./process/StartError.ts"
import { type OpenCabinetOptions, settingsFrom } from "./library/CabinetOptions.ts"
import { embeddedLayer } from "./library/EmbeddedLayer.ts"

export type { CabinetServices, OpenCabinetOptions, StartError }

/** What an open cabinet provides: its ports and use cases, and what `@data-cabinet/http-node/server/Server` asks for. */
export type OpenCabinetServices = CabinetServices | Cabinets | Readiness

/**
 * Opens the cabinet, brings its database up to date, and provides `CabinetServices` (`Intake`, `Feed`, `SelectRows`,
 * `Sources`, `ApiKeys`, `Addresses` and all others of `@data-cabinet/core`) beside `Cabinets` and `Readiness` for
 * `@data-cabinet/http-node/server/Server`. Fails with a `StartError` in words. Logs go to the program's own logger; `log` is
 * for `openCabinet` only. Each call is a cabinet of its own.
 */
export const openCabinetLayer = (
  options: Omit<OpenCabinetOptions, "log"> = {},
): Layer.Layer<OpenCabinetServices, StartError> =>
  Layer.unwrap(Effect.map(settingsFrom(options), (settings) => embeddedLayer(settings, options)))

/**
 * A cabinet embedded in an Effect program: one layer with every port and use case, and the requirements of an HTTP server.
 * While open it does its background work (deliveries, polls, maintenance). It listens nowhere, and releases everything when
 * its scope closes.
 *
 *   const cabinet = openCabinetLayer({ databaseUrl, baseUrl })
 *   const take = Intake.use((intake) => intake.accept(1, { total: "12.50" })).pipe(Effect.provide(cabinet))
 *   const server = Server.layer({ host: "127.0.0.1", port: 8080, metrics: true }).pipe(Layer.provide(cabinet))
 */
// oxlint-disable-next-line import/no-unassigned-import -- it is loaded for what it refuses
import "./library/Host.ts"
import type { Cabinets } from "@data-cabinet/http-node/routes/Cabinets"
import type { Readiness } from "@data-cabinet/http-node/server/Readiness"
import { Effect, Layer } from "effect"
import type { CabinetServices } from "./compose/CabinetLayer.ts"
import type { StartError } from "./error/StartError.ts"
import { type OpenCabinetOptions, settingsFrom } from "./library/CabinetOptions.ts"
import { embeddedLayer } from "./library/EmbeddedLayer.ts"

export type { CabinetServices, OpenCabinetOptions, StartError }

/**
 * The services of an open cabinet: its ports and use cases, and the requirements of
 * `@data-cabinet/http-node/server/Server`.
 */
export type OpenCabinetServices = CabinetServices | Cabinets | Readiness

/**
 * Opens the cabinet, brings its database up to date, and provides `CabinetServices` (`Intake`, `Feed`, `SelectRows`,
 * `Sources`, `ApiKeys`, `Addresses` and all others of `@data-cabinet/core`), plus `Cabinets` and `Readiness` for
 * `@data-cabinet/http-node/server/Server`. Fails with a `StartError` that explains why. Logs go to the program's own
 * logger; `log` is for `openCabinet` only. Each call opens a separate cabinet.
 */
export const openCabinetLayer = (
  options: Omit<OpenCabinetOptions, "log"> = {},
): Layer.Layer<OpenCabinetServices, StartError> =>
  Layer.unwrap(Effect.map(settingsFrom(options), (settings) => embeddedLayer(settings, options)))

/**
 * A whole cabinet inside another program, composed once for both interfaces: its services, its background work, and the
 * requirements of an HTTP server. Listens nowhere.
 */
import { Effect, Layer } from "effect"
import { listeningUrl } from "../settings/BaseUrl.ts"
import { type CabinetDatabase, cabinetDatabase } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { httpLayer } from "../compose/HttpLayer.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../process/StartError.ts"
import { maintenanceLayer, pollingLayer, workLayer } from "../compose/WorkLayer.ts"
import { type OpenCabinetOptions, programSignIn } from "./CabinetOptions.ts"

/** Options other than settings that the composition uses. */
type Composed = Pick<OpenCabinetOptions, "console" | "delivery" | "maxConnections" | "maxReaderConnections">

/** The address under which others reach it; if none was given, the address on which the command would listen. */
export const baseUrlOf = (settings: Settings): string => settings.baseUrl ?? listeningUrl(settings.host, settings.port)

const compose = (database: CabinetDatabase, settings: Settings, options: Composed) => {
  const delivers = options.delivery !== false
  const { maxConnections, maxReaderConnections } = options
  const work = delivers ? Layer.mergeAll(maintenanceLayer, pollingLayer, workLayer(settings)) : maintenanceLayer
  const http = httpLayer({
    baseUrl: baseUrlOf(settings),
    baseUrlKnown: settings.baseUrl !== null,
    settings,
    signIn: programSignIn(options),
  })
  return Layer.merge(work, http).pipe(
    Layer.provideMerge(
      cabinetLayer({ ...database, settings, delivers, accepts: true, maxConnections, maxReaderConnections }),
    ),
    Layer.catch((error) =>
      Layer.effectContext(Effect.fail(new StartError({ code: "database_unreachable", message: error.message }))),
    ),
  )
}

/**
 * Opens the database with the layer and closes it with the layer. `onOpen` is called once it is open. Always built
 * fresh: layers are memoized by identity, and the layers of another cabinet in the same program must never be used for
 * this one.
 */
export const embeddedLayer = (
  settings: Settings,
  options: Composed,
  onOpen: (database: CabinetDatabase) => void = () => {},
) =>
  Layer.fresh(
    Layer.unwrap(
      Effect.gen(function* () {
        const database = yield* cabinetDatabase(settings, "create", { baseUrl: settings.baseUrl ?? undefined })
        onOpen(database)
        return compose(database, settings, options)
      }),
    ),
  )

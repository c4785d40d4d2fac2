/**
 * A whole cabinet inside another program, composed in one place for both interfaces: its services, its background work, and
 * what its HTTP handlers require. It does not listen on a port.
 */
import { Effect, Layer } from "effect"
import { listeningUrl } from "../settings/BaseUrl.ts"
import { type CabinetDatabase, cabinetDatabase } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { httpLayer } from "../compose/HttpLayer.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../error/StartError.ts"
import { maintenanceLayer, pollingLayer, workLayer } from "../compose/WorkLayer.ts"
import { type OpenCabinetOptions, programSignIn } from "./CabinetOptions.ts"

/** Options other than settings that the composition uses. */
type Composed = Pick<OpenCabinetOptions, "console" | "delivery" | "maxConnections" | "maxReaderConnections">

/** The public URL; by default the address that the command would listen on. */
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
 * Opens and closes the database with the layer, and calls `onOpen` once it is open. The layer is always built fresh: layers
 * are memoized by identity, and two cabinets in one program must never share any.
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

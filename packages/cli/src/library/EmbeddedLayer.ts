/**
 * A whole cabinet inside another program, composed once for both faces: its services, the work it does by itself, and what
 * an HTTP face needs. Listens nowhere.
 */
import { Effect, Layer } from "effect"
import { listeningUrl } from "../settings/BaseUrl.ts"
import { type CabinetDatabase, cabinetDatabase } from "../compose/CabinetDatabase.ts"
import { cabinetLayer } from "../compose/CabinetLayer.ts"
import { httpLayer } from "../compose/HttpLayer.ts"
import type { Settings } from "../settings/Settings.ts"
import { StartError } from "../process/StartError.ts"
import { housekeepingLayer, pollingLayer, workLayer } from "../compose/WorkLayer.ts"
import type { OpenCabinetOptions } from "./CabinetOptions.ts"

/** What is composed of the options besides the settings. */
type Pools = Pick<OpenCabinetOptions, "delivery" | "maxConnections" | "maxReaderConnections">

/** The address that others reach it by; where none was said, the one that the command would listen on. */
export const baseUrlOf = (settings: Settings): string => settings.baseUrl ?? listeningUrl(settings.host, settings.port)

const compose = (database: CabinetDatabase, settings: Settings, options: Pools) => {
  const delivers = options.delivery !== false
  const { maxConnections, maxReaderConnections } = options
  const work = delivers ? Layer.mergeAll(housekeepingLayer, pollingLayer, workLayer(settings)) : housekeepingLayer
  return Layer.merge(work, httpLayer({ baseUrl: baseUrlOf(settings), settings })).pipe(
    Layer.provideMerge(cabinetLayer({ ...database, settings, delivers, maxConnections, maxReaderConnections })),
    Layer.catch((error) =>
      Layer.effectContext(Effect.fail(new StartError({ code: "database_unreachable", message: error.message }))),
    ),
  )
}

/**
 * Opens the database with the layer and lets it go with it. `told` hears of it once it is open. Always built again: layers
 * are known by identity, and what another cabinet of the same program built must never be taken for this one's.
 */
export const embeddedLayer = (
  settings: Settings,
  options: Pools,
  told: (database: CabinetDatabase) => void = () => {},
) =>
  Layer.fresh(
    Layer.unwrap(
      Effect.gen(function* () {
        const database = yield* cabinetDatabase(settings, "create")
        told(database)
        for (const role of [database.roles.reader, database.roles.author]) {
          // What it cannot do is said at once, not only to whoever asks for it.
          if (!role.there) yield* Effect.logWarning(role.reason)
        }
        return compose(database, settings, options)
      }),
    ),
  )

/** Our own cabinet on the database of DATABASE_URL, without a server: for yardsticks that drive one part of it. */
import { Effect, Layer } from "effect"
import { cabinetDatabase } from "../../../packages/cli/src/compose/CabinetDatabase.ts"
import { cabinetLayer } from "../../../packages/cli/src/compose/CabinetLayer.ts"
import { readSettings } from "../../../packages/cli/src/settings/ReadSettings.ts"

/** Its services and the settings they were made with, for as long as the scope is open. */
export const openCabinet = (databaseUrl?: string) =>
  Effect.gen(function* () {
    const env = databaseUrl === undefined ? process.env : { DATABASE_URL: databaseUrl }
    const settings = yield* readSettings({ given: {}, env })
    const database = yield* cabinetDatabase(settings, "join")
    const cabinet = yield* Layer.build(cabinetLayer({ ...database, settings, delivers: false }))
    return { cabinet, settings }
  })

/** Adds a cabinet to a server of many: shared by the command and the library. */
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Effect } from "effect"
import { openDatabase } from "../compose/OpenDatabase.ts"

/**
 * Registers the cabinet and brings its database up to date. Without a URL a database is created beside the server's
 * own.
 */
export const addTenant = Effect.fnUntraced(function* (name: string, databaseUrl: string | null) {
  // A faulty URL is reported before the name is taken.
  if (databaseUrl !== null) yield* openDatabase({ url: databaseUrl })
  const cabinet = yield* CabinetRegistry.use((registry) => registry.add(name, databaseUrl))
  yield* openDatabase({ url: cabinet.databaseUrl })
  return cabinet
})

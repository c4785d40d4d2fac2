/** A cabinet more for a server of many: what the command and the library both do. */
import { CabinetRegistry } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Effect } from "effect"
import { openDatabase } from "../compose/OpenDatabase.ts"

/** Registers it and brings its database up to date. Without an address a database is made beside the server's own. */
export const addTenant = Effect.fnUntraced(function* (name: string, databaseUrl: string | null) {
  // What is wrong with an address is told before the name is taken.
  if (databaseUrl !== null) yield* openDatabase({ url: databaseUrl })
  const cabinet = yield* CabinetRegistry.use((registry) => registry.add(name, databaseUrl))
  yield* openDatabase({ url: cabinet.databaseUrl })
  return cabinet
})

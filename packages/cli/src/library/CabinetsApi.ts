/** Manages the cabinets of a server of many from a program, with promises. */
import { CabinetRegistry, type RegisteredCabinet } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Effect, Result } from "effect"
import { tenantDatabaseUrl } from "../settings/SettingForm.ts"
import { StartError } from "../error/StartError.ts"
import type { RunOver } from "./RunEffect.ts"
import { addTenant } from "../tenancy/Tenants.ts"

/** A cabinet served at its own host name. */
export interface Tenant {
  /** The first label of its host name. */
  readonly name: string
  /** Its public URL. */
  readonly baseUrl: string
  /** The URL of its database; it may hold a password. */
  readonly databaseUrl: string
  /** When it was registered, RFC 3339 in UTC. */
  readonly createdAt: string
}

/** Adds, lists and removes the cabinets of a server with many. */
export interface CabinetsApi {
  /**
   * Adds a cabinet with its own database, which is migrated. Without `databaseUrl`, a database is created beside the
   * server's. Rejects with `bad_name`, `name_taken`, `database_taken` or `database_not_made`.
   */
  readonly add: (name: string, options?: { readonly databaseUrl?: string | undefined }) => Promise<Tenant>
  /** All cabinets, by name. */
  readonly list: () => Promise<ReadonlyArray<Tenant>>
  /** Stops serving a cabinet, in other processes within ten seconds; its database stays. Rejects with `no_such_cabinet`. */
  readonly remove: (name: string) => Promise<Tenant>
}

/** Builds the methods of `CabinetsApi`. */
export const cabinetsApi = (
  run: RunOver<CabinetRegistry>,
  baseUrlOf: (name: string) => string,
): CabinetsApi & { readonly find: (name: string) => Promise<Tenant> } => {
  const served = ({ name, databaseUrl, createdAt }: RegisteredCabinet): Tenant => ({
    name,
    baseUrl: baseUrlOf(name),
    databaseUrl,
    createdAt,
  })
  return {
    add: async (name, { databaseUrl } = {}) => {
      const read = databaseUrl === undefined ? Result.succeed(null) : tenantDatabaseUrl(null)(databaseUrl)
      if (Result.isSuccess(read)) return served(await run(addTenant(name, read.success)))
      const message = `databaseUrl is not valid: it must be ${read.failure}.`
      return run(Effect.fail(new StartError({ code: "bad_setting", message })))
    },
    list: async () => (await run(CabinetRegistry.use((registry) => registry.list))).map(served),
    find: async (name) => served(await run(CabinetRegistry.use((registry) => registry.find(name)))),
    remove: async (name) => served(await run(CabinetRegistry.use((registry) => registry.remove(name)))),
  }
}

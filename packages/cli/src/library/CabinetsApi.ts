/** The cabinets of a server of many inside a program: which there are, with promises. */
import { CabinetRegistry, type RegisteredCabinet } from "@data-cabinet/core/tenancy/CabinetRegistry"
import { Effect, Result } from "effect"
import { addTenant } from "../tenancy/AddTenant.ts"
import { databaseAddress } from "../settings/SettingForm.ts"
import { StartError } from "../process/StartError.ts"
import type { RunOver } from "./RunEffect.ts"

/** A cabinet that is served at its own host name. */
export interface ServedCabinet {
  /** The first part of its host name. */
  readonly name: string
  /** The address that others reach it by. */
  readonly baseUrl: string
  /** Where its database is; it may hold a password. */
  readonly databaseUrl: string
  /** Since when it is served, RFC 3339 in UTC. */
  readonly createdAt: string
}

export interface CabinetsApi {
  /**
   * Serves a cabinet more, in a database of its own, which is brought up to date. Without `databaseUrl` one is made beside
   * the server's. Rejects with `bad_name`, `name_taken`, `database_taken` or `database_not_made`.
   */
  readonly add: (name: string, options?: { readonly databaseUrl?: string | undefined }) => Promise<ServedCabinet>
  /** All of them, by name. */
  readonly list: () => Promise<ReadonlyArray<ServedCabinet>>
  /** Serves it no more, in other processes within ten seconds; its database stays. Rejects with `no_such_cabinet`. */
  readonly remove: (name: string) => Promise<ServedCabinet>
}

export const cabinetsApi = (
  run: RunOver<CabinetRegistry>,
  baseUrlOf: (name: string) => string,
): CabinetsApi & { readonly find: (name: string) => Promise<ServedCabinet> } => {
  const served = ({ name, databaseUrl, createdAt }: RegisteredCabinet): ServedCabinet => ({
    name,
    baseUrl: baseUrlOf(name),
    databaseUrl,
    createdAt,
  })
  return {
    add: async (name, { databaseUrl } = {}) => {
      const read = databaseUrl === undefined ? Result.succeed(null) : databaseAddress(databaseUrl)
      if (Result.isSuccess(read)) return served(await run(addTenant(name, read.success)))
      const message = `databaseUrl is not right: it must be ${read.failure}.`
      return run(Effect.fail(new StartError({ code: "bad_setting", message })))
    },
    list: async () => (await run(CabinetRegistry.use((registry) => registry.list))).map(served),
    find: async (name) => served(await run(CabinetRegistry.use((registry) => registry.find(name)))),
    remove: async (name) => served(await run(CabinetRegistry.use((registry) => registry.remove(name)))),
  }
}

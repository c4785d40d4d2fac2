/** Which cabinets a server of many serves, and where each has its database. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export class RegistryError extends Schema.TaggedError<RegistryError>()("RegistryError", {
  code: Schema.Literals(["bad_name", "name_taken", "database_taken", "database_not_made", "no_such_cabinet"]),
  message: Schema.String,
}) {}

/** A cabinet's name is the left-most label of its host name. */
export const CABINET_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export interface RegisteredCabinet {
  readonly name: string
  /** Where its database is reached; it may hold a password. */
  readonly databaseUrl: string
  /** Of a database that was made for it beside the server's own; null for one that was given. */
  readonly madeDatabase: string | null
  readonly createdAt: string
}

export class CabinetRegistry extends Context.Service<
  CabinetRegistry,
  {
    readonly list: Effect.Effect<ReadonlyArray<RegisteredCabinet>, StoreUnavailable>
    readonly find: (name: string) => Effect.Effect<RegisteredCabinet, RegistryError | StoreUnavailable>
    /** Without an address a database is made beside the server's own, where the database user may do that. */
    readonly add: (
      name: string,
      databaseUrl: string | null,
    ) => Effect.Effect<RegisteredCabinet, RegistryError | StoreUnavailable>
    /** Its database stays as it is. */
    readonly remove: (name: string) => Effect.Effect<RegisteredCabinet, RegistryError | StoreUnavailable>
  }
>()("@data-cabinet/core/tenancy/CabinetRegistry") {}

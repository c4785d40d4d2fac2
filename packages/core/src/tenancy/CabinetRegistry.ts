/** The cabinets of a server with many tenants, and the database of each. */
import { Context, type Effect, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export class RegistryError extends Schema.TaggedError<RegistryError>()("RegistryError", {
  code: Schema.Literals(["bad_name", "name_taken", "database_taken", "database_not_made", "no_such_cabinet"]),
  message: Schema.String,
}) {}

/** A cabinet's name is the leftmost label of its host name. */
export const CABINET_NAME = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/

export interface RegisteredCabinet {
  readonly name: string
  /** The URL of its database; it may contain a password. */
  readonly databaseUrl: string
  /** The name of a database that was created for it next to the server's own; null if an existing database was given. */
  readonly madeDatabase: string | null
  readonly createdAt: string
}

export class CabinetRegistry extends Context.Service<
  CabinetRegistry,
  {
    readonly list: Effect.Effect<ReadonlyArray<RegisteredCabinet>, StoreUnavailable>
    readonly find: (name: string) => Effect.Effect<RegisteredCabinet, RegistryError | StoreUnavailable>
    /** Without a URL, a database is created next to the server's own, if the database user has the right to do that. */
    readonly add: (
      name: string,
      databaseUrl: string | null,
    ) => Effect.Effect<RegisteredCabinet, RegistryError | StoreUnavailable>
    /** Its database is kept. */
    readonly remove: (name: string) => Effect.Effect<RegisteredCabinet, RegistryError | StoreUnavailable>
  }
>()("@data-cabinet/core/tenancy/CabinetRegistry") {}

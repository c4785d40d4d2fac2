/** Stores which cabinets a server has. Names are not checked here: `CabinetRegistry` has checked them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

export interface RegisteredCabinet {
  readonly name: string
  /** The URL of its database; it may contain a password. */
  readonly databaseUrl: string
  /** The name of a database that was created for it next to the server's own; null if an existing database was given. */
  readonly madeDatabase: string | null
  readonly createdAt: string
}

/** A database to be created next to the server's own, or an existing one. */
export type CabinetDatabase = { readonly create: string } | { readonly url: string }

export type RegistryAddition =
  | { readonly is: "added"; readonly cabinet: RegisteredCabinet }
  | { readonly is: "name_taken" }
  /** The database is another cabinet's. */
  | { readonly is: "database_registered" }
  /** There is a database of the name that was to be created. */
  | { readonly is: "database_exists" }
  /** The database user has no right to create one; PostgreSQL's own message. */
  | { readonly is: "denied"; readonly detail: string }

export type RegistryMove =
  | { readonly is: "moved"; readonly cabinet: RegisteredCabinet }
  | { readonly is: "missing" }
  /** The database is another cabinet's. */
  | { readonly is: "database_registered" }

type Found = Effect.Effect<Option.Option<RegisteredCabinet>, StoreUnavailable>

export class RegistryStore extends Context.Service<
  RegistryStore,
  {
    readonly list: Effect.Effect<ReadonlyArray<RegisteredCabinet>, StoreUnavailable>
    readonly find: (name: string) => Found
    readonly add: (name: string, database: CabinetDatabase) => Effect.Effect<RegistryAddition, StoreUnavailable>
    /** From now on its database is the one at this URL. */
    readonly move: (name: string, databaseUrl: string) => Effect.Effect<RegistryMove, StoreUnavailable>
    /** Its database is kept. None if there was no such cabinet. */
    readonly remove: (name: string) => Found
  }
>()("@data-cabinet/core/tenancy/RegistryStore") {}

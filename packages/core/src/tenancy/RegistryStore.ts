/** Stores which cabinets a server has. Names are not checked here: `CabinetRegistry` has checked them. */
import { Context, type Effect, type Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** A cabinet in the registry. */
export interface RegisteredCabinet {
  readonly name: string
  /** The URL of its database; it may contain a password. */
  readonly databaseUrl: string
  /**
   * The name of a database that was created for it next to the server's own; null if an existing database was given.
   */
  readonly madeDatabase: string | null
  readonly createdAt: string
}

/** A database to be created next to the server's own, or an existing one. */
export type CabinetDatabase = { readonly create: string } | { readonly url: string }

/** The outcome of adding a cabinet. */
export type RegistryAddition =
  | { readonly is: "added"; readonly cabinet: RegisteredCabinet }
  | { readonly is: "name_taken" }
  /** The database is another cabinet's. */
  | { readonly is: "database_registered" }
  /** There is a database of the name that was to be created. */
  | { readonly is: "database_exists" }
  /** The database user has no right to create one; PostgreSQL's own message. */
  | { readonly is: "denied"; readonly detail: string }

/** The outcome of moving a cabinet. */
export type RegistryMove =
  | { readonly is: "moved"; readonly cabinet: RegisteredCabinet }
  | { readonly is: "missing" }
  /** The database is another cabinet's. */
  | { readonly is: "database_registered" }

/** The state of the registry that a reader has seen. */
export interface RegistryPosition {
  /** The life of the database server: a position of another life means nothing. */
  readonly life: string
  /** The transactions that were visible, in the store's own notation. */
  readonly seen: string
}

/** The registry's entry under a name; null if it has no such cabinet any more. */
export interface RegistryEntry {
  readonly name: string
  readonly cabinet: RegisteredCabinet | null
}

/** A page of the changes to the registry. */
export interface RegistryChanges {
  /** The state seen once all pages from here on are read. */
  readonly position: RegistryPosition
  /** At most a page; a name may be among them more than once. */
  readonly entries: ReadonlyArray<RegistryEntry>
  /** Where the next page begins; null if this is the last. */
  readonly next: string | null
}

type Found = Effect.Effect<Option.Option<RegisteredCabinet>, StoreUnavailable>

export class RegistryStore extends Context.Service<
  RegistryStore,
  {
    readonly list: Effect.Effect<ReadonlyArray<RegisteredCabinet>, StoreUnavailable>
    readonly find: (name: string) => Found
    /** The position of this moment. */
    readonly position: Effect.Effect<RegistryPosition, StoreUnavailable>
    /**
     * The changes after a position of the current epoch, whenever their transactions began. `from`: the `next` of the
     * page before; null for the first page.
     */
    readonly changes: (since: RegistryPosition, from: string | null) => Effect.Effect<RegistryChanges, StoreUnavailable>
    /** The cabinets after a name, in the order of their names; at most a page. Empty after the last one. */
    readonly page: (after: string) => Effect.Effect<ReadonlyArray<RegisteredCabinet>, StoreUnavailable>
    /** An entry for each of the names. */
    readonly entries: (names: ReadonlyArray<string>) => Effect.Effect<ReadonlyArray<RegistryEntry>, StoreUnavailable>
    /** Deletes changes that are older than any reader's position can be. */
    readonly forget: Effect.Effect<void, StoreUnavailable>
    readonly add: (name: string, database: CabinetDatabase) => Effect.Effect<RegistryAddition, StoreUnavailable>
    /** Makes the database at this URL its database. */
    readonly move: (name: string, databaseUrl: string) => Effect.Effect<RegistryMove, StoreUnavailable>
    /** Removes the cabinet and keeps its database. None if there was no such cabinet. */
    readonly remove: (name: string) => Found
  }
>()("@data-cabinet/core/tenancy/RegistryStore") {}

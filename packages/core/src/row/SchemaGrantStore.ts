/**
 * Creates schemas, and grants and revokes the reader's access to them. `SchemaGrants` decides whether a schema may be
 * exposed.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** `expose` grants access to the schema's current and future objects of its owner; `hide` revokes it. */
export type GrantChange = "expose" | "hide"

/** The outcome of a grant or a revocation. */
export type GrantOutcome =
  | { readonly is: "no_schema" }
  | { readonly is: "no_reader"; readonly role: string }
  /** PostgreSQL refused, in these words; its owner can run the statements. */
  | { readonly is: "denied"; readonly detail: string; readonly statements: ReadonlyArray<string> }
  /** PostgreSQL skips what this user may not grant, so the store counts the result. */
  | {
      readonly is: "changed"
      /** The number of tables and views in the schema, and of those that the reader can currently read. */
      readonly objects: number
      readonly readable: number
      readonly statements: ReadonlyArray<string>
    }

/** The outcome of creating a schema. */
export type AddOutcome =
  | { readonly is: "added"; readonly author: string }
  | { readonly is: "exists" }
  | { readonly is: "no_author"; readonly reason: string }
  | { readonly is: "denied"; readonly detail: string; readonly statements: ReadonlyArray<string> }

export class SchemaGrantStore extends Context.Service<
  SchemaGrantStore,
  {
    readonly change: (change: GrantChange, schema: string) => Effect.Effect<GrantOutcome, StoreUnavailable>
    /** Creates a schema that belongs to the author, and that the reader may use. */
    readonly add: (schema: string) => Effect.Effect<AddOutcome, StoreUnavailable>
    /** The schemas whose use was granted to the reader itself, by name. */
    readonly list: Effect.Effect<ReadonlyArray<string>, StoreUnavailable>
  }
>()("@data-cabinet/core/row/SchemaGrantStore") {}

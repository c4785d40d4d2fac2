/** The tables and views that readers may see, in displayed form. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { Catalog, type ReadableTable } from "./Catalog.ts"
import type { Table, TableDetail } from "./Table.ts"

/** A table or view that a reader may see, under the name that it has now. */
export interface ListedObject {
  readonly schema: string
  readonly name: string
  readonly oid: number
}

/** The objects that a reader may see; null for all. */
type Listing = { readonly objects: ReadonlyArray<ListedObject> } | null

export class Tables extends Context.Service<
  Tables,
  {
    /** By schema and name. */
    readonly list: Effect.Effect<ReadonlyArray<Table>, StoreUnavailable>
    /** None if it does not exist or may not be read; the two cases are not distinguished. */
    readonly find: (schema: string, name: string) => Effect.Effect<Option.Option<TableDetail>, StoreUnavailable>
  }
>()("@data-cabinet/core/row/Tables") {
  static readonly layer = Layer.effect(
    Tables,
    Effect.map(Catalog, (catalog) => Tables.of(tablesOf(catalog, null))),
  )
}

/** The tables of a reader. Nothing is looked up that a scope does not list. */
export const tablesOf = (catalog: Catalog["Service"], scope: Listing): Tables["Service"] => ({
  list: scope === null ? catalog.list : catalog.listOf(scope.objects.map(({ oid }) => oid)),
  find: (schema, name) =>
    Effect.map(
      findListed(catalog, scope, { schema, name }),
      // A view's query names objects that are not listed.
      Option.map(({ detail }): TableDetail => (scope === null ? detail : { ...detail, definition: null })),
    ),
})

/** The object of this name that a reader may see. */
export const findListed = (
  catalog: Catalog["Service"],
  scope: Listing,
  { schema, name }: { readonly schema: string; readonly name: string },
): Effect.Effect<Option.Option<ReadableTable>, StoreUnavailable> => {
  if (scope === null) return catalog.find(schema, name)
  const oid = listedOid(scope, schema, name)
  return oid === undefined
    ? Effect.succeedNone
    : Effect.map(
        catalog.find(schema, name),
        Option.filter((table) => table.oid === oid),
      )
}

/** The oid that an object must have to be read under this name; undefined if no object of this name may be read. */
export const listedOid = ({ objects }: NonNullable<Listing>, schema: string, name: string): number | undefined =>
  objects.find((object) => object.schema === schema && object.name === name)?.oid

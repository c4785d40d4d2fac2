/** The tables and views that readers may see, in displayed form. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type ReadScopeOrAll, scopedDetail, scopedOid } from "../key/ReadScope.ts"
import { Catalog } from "./Catalog.ts"
import type { Table, TableDetail } from "./Table.ts"

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
export const tablesOf = (catalog: Catalog["Service"], scope: ReadScopeOrAll): Tables["Service"] => ({
  list: scope === null ? catalog.list : catalog.listOf(scope.objects.map(({ oid }) => oid)),
  find: (schema, name) =>
    scope !== null && scopedOid(scope, schema, name) === undefined
      ? Effect.succeedNone
      : Effect.map(
          catalog.find(schema, name),
          Option.flatMap((table) => scopedDetail(scope, table)),
        ),
})

/** The tables and views that readers may see, as they are shown. */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
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
    Effect.map(Catalog, (catalog) =>
      Tables.of({
        list: catalog.list,
        find: (schema, name) =>
          Effect.map(
            catalog.find(schema, name),
            Option.map(({ detail }) => detail),
          ),
      }),
    ),
  )
}

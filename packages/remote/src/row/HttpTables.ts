/** The tables and views of a remote cabinet. */
import type { Table, TableDetail } from "@data-cabinet/core/row/Table"
import { Tables } from "@data-cabinet/core/row/Tables"
import { Effect, Layer, Option } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { refusalAsDefect } from "../http/RemoteRefusal.ts"

/** Their names in the program are the same as in the API. */
const tableOf = ({ rowsEstimate, ...table }: Table & { readonly rowsEstimate: number | null }): Table => ({
  ...table,
  rows_estimate: rowsEstimate,
})
const detailOf = ({
  rowsEstimate,
  columns,
  key,
  definition,
  ...table
}: TableDetail & { readonly rowsEstimate: number | null }): TableDetail => ({
  ...table,
  rows_estimate: rowsEstimate,
  columns,
  key,
  definition,
})

export const layer = Layer.effect(
  Tables,
  Effect.map(ManageApi, (api) =>
    Tables.of({
      list: Effect.map(refusalAsDefect(api.list<never>({ method: "GET", path: ["tables"] })), (all) =>
        all.map(tableOf),
      ),
      find: (schema, name) =>
        refusalAsDefect(
          api.json<never>({ method: "GET", path: ["tables", schema, name] }).pipe(
            Effect.map((sent) => Option.some(detailOf(sent))),
            Effect.catchIf(
              (error) => error._tag === "RemoteRefusal" && error.code === "no_such_table",
              () => Effect.succeedNone,
            ),
          ),
        ),
    }),
  ),
)

/** The indexes of the columns of a remote cabinet's tables. */
import { type ColumnIndexState, ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { ColumnIndexError } from "@data-cabinet/core/row/ColumnIndexError"
import type { ColumnIndex } from "@data-cabinet/core/row/ColumnIndexStore"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(ColumnIndexError)

export const layer = Layer.effect(
  ColumnIndexes,
  Effect.map(ManageApi, (api) => {
    const path = (schema: string, name: string) => ["tables", schema, name, "indexes"]
    return ColumnIndexes.of({
      list: (schema, name) => refusedAs(api.list<ColumnIndex>({ method: "GET", path: path(schema, name) }), known),
      build: (schema, name, columns) =>
        Effect.map(
          refusedAs(api.json<ColumnIndexState>({ method: "PUT", path: path(schema, name), body: { columns } }), known),
          ({ index, columns: all, method, built }) => ({ index, columns: all, method, built }),
        ),
      drop: (schema, name, index) =>
        refusedAs(api.json<ColumnIndex>({ method: "DELETE", path: [...path(schema, name), index] }), known),
    })
  }),
)

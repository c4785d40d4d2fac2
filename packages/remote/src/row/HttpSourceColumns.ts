/** The columns of a remote source's table. */
import { ColumnError } from "@data-cabinet/core/row/ColumnError"
import type { Notation } from "@data-cabinet/core/row/Notation"
import {
  type RetypeResult,
  type RetypeTrial,
  type SourceColumn,
  SourceColumns,
} from "@data-cabinet/core/row/SourceColumns"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(ColumnError)

type Changed = SourceColumn & Omit<RetypeResult, "column">

const resultOf = ({ moved, sibling, views, ...column }: Changed): RetypeResult => ({ column, moved, sibling, views })

const written = ({ numbers, dates }: Notation): ReadonlyArray<readonly [string, string]> => [
  ...(numbers === undefined ? [] : [["numbers", numbers] as const]),
  ...(dates === undefined ? [] : [["dates", dates] as const]),
]

export const layer = Layer.effect(
  SourceColumns,
  Effect.map(ManageApi, (api) => {
    const change = (id: number, column: string, body: object) =>
      Effect.map(
        refusedAs(api.json<Changed>({ method: "PATCH", path: ["sources", id, "columns", column], body }), known),
        resultOf,
      )
    return SourceColumns.of({
      list: (id) => refusedAs(api.list<SourceColumn>({ method: "GET", path: ["sources", id, "columns"] }), known),
      relabel: (id, column, label) => Effect.map(change(id, column, { label }), (changed) => changed.column),
      tryRetype: (id, column, type, notation = {}) =>
        refusedAs(
          api.json<RetypeTrial>({
            method: "GET",
            path: ["sources", id, "columns", column, "retype"],
            query: [["type", type], ...written(notation)],
          }),
          known,
        ),
      drop: (id, column) =>
        refusedAs(api.json<SourceColumn>({ method: "DELETE", path: ["sources", id, "columns", column] }), known),
      retype: (id, column, type, { withViews, notation = {} }) =>
        change(id, column, { type, with_views: withViews, ...notation }),
    })
  }),
)

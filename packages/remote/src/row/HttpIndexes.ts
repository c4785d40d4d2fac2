/** The indexes of a remote cabinet's tables: those of columns, and the search indexes. */
import { type ColumnIndexState, ColumnIndexes, ColumnIndexError } from "@data-cabinet/core/row/ColumnIndexes"
import type { ColumnIndex } from "@data-cabinet/core/row/ColumnIndexStore"
import {
  type FoundSearchIndex,
  SearchIndex,
  type SearchIndexState,
  SearchIndexError,
} from "@data-cabinet/core/row/SearchIndex"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const [ofColumns, ofSearch] = [ofCodes(ColumnIndexError), ofCodes(SearchIndexError)]

const columnIndexes = Layer.effect(
  ColumnIndexes,
  Effect.map(ManageApi, (api) => {
    const path = (schema: string, name: string) => ["tables", schema, name, "indexes"]
    return ColumnIndexes.of({
      list: (schema, name) => refusedAs(api.list<ColumnIndex>({ method: "GET", path: path(schema, name) }), ofColumns),
      build: (schema, name, columns) =>
        Effect.map(
          refusedAs(
            api.json<ColumnIndexState>({ method: "PUT", path: path(schema, name), body: { columns } }),
            ofColumns,
          ),
          ({ index, columns: all, method, built }) => ({ index, columns: all, method, built }),
        ),
      drop: (schema, name, index) =>
        refusedAs(api.json<ColumnIndex>({ method: "DELETE", path: [...path(schema, name), index] }), ofColumns),
    })
  }),
)

const searchIndexes = Layer.effect(
  SearchIndex,
  Effect.map(ManageApi, (api) => {
    const path = (schema: string, name: string) => ["tables", schema, name, "search-index"]
    return SearchIndex.of({
      list: (schema, name) =>
        refusedAs(api.list<FoundSearchIndex>({ method: "GET", path: path(schema, name) }), ofSearch),
      build: (schema, name) =>
        Effect.map(
          refusedAs(api.json<SearchIndexState>({ method: "PUT", path: path(schema, name) }), ofSearch),
          ({ index, built }) => ({ index, built }),
        ),
      drop: (schema, name) =>
        Effect.map(
          refusedAs(api.json<{ readonly count: number }>({ method: "DELETE", path: path(schema, name) }), ofSearch),
          ({ count }) => count,
        ),
    })
  }),
)

export const layer = Layer.merge(columnIndexes, searchIndexes)

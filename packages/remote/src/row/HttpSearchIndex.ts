/** The search indexes of a remote cabinet's tables. */
import { type FoundSearchIndex, SearchIndex, type SearchIndexState } from "@data-cabinet/core/row/SearchIndex"
import { SearchIndexError } from "@data-cabinet/core/row/SearchIndexError"
import { Effect, Layer } from "effect"
import { ManageApi } from "../http/ManageApi.ts"
import { ofCodes, refusedAs } from "../http/RemoteRefusal.ts"

const known = ofCodes(SearchIndexError)

export const layer = Layer.effect(
  SearchIndex,
  Effect.map(ManageApi, (api) => {
    const path = (schema: string, name: string) => ["tables", schema, name, "search-index"]
    return SearchIndex.of({
      list: (schema, name) => refusedAs(api.list<FoundSearchIndex>({ method: "GET", path: path(schema, name) }), known),
      build: (schema, name) =>
        Effect.map(
          refusedAs(api.json<SearchIndexState>({ method: "PUT", path: path(schema, name) }), known),
          ({ index, built }) => ({ index, built }),
        ),
      drop: (schema, name) =>
        Effect.map(
          refusedAs(api.json<{ readonly count: number }>({ method: "DELETE", path: path(schema, name) }), known),
          ({ count }) => count,
        ),
    })
  }),
)

/** The search index of a table over the management API. */
import { SearchIndex, searchIndexShape, searchIndexStateShape } from "@data-cabinet/core/row/SearchIndex"
import { Effect } from "effect"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nameSegment } from "../manage/ManageParameters.ts"
import { countShape, list, one, whole } from "../manage/ManageResponses.ts"

const segments = [
  nameSegment("schema", "The schema's name.", "sources"),
  nameSegment("name", "The name of the table or materialized view.", "orders"),
] as const

export const manageSearchIndex = Effect.gen(function* () {
  const index = yield* SearchIndex
  const common = {
    tag: "Tables",
    path: "/manage/v1/tables/{schema}/{name}/search-index",
    segments,
    params: { no_such_table: "name" },
  } as const
  return [
    manageEndpoint({
      ...common,
      id: "listSearchIndexes",
      method: "GET",
      summary: "The search index of a table",
      description:
        "None or one; two while one replaces the other. While one is being built, `progress` is from 0 to 1. The list is not paginated.",
      action: "column.read",
      response: list(searchIndexShape, "The indexes."),
      errors: ["no_such_table"],
      respond: ({ path: [schema, name] }) =>
        Effect.map(index.list(schema, name), (all) => whole(all.map(searchIndexShape.json))),
    }),
    manageEndpoint({
      ...common,
      id: "buildSearchIndex",
      method: "PUT",
      summary: "Build a search index",
      description: "Builds the index that `q` uses, or rebuilds it if columns were added. Responds when it is built.",
      action: "column.change",
      response: one(searchIndexStateShape, "The index."),
      errors: ["no_such_table", "not_indexable", "no_right", "no_trigrams", "build_failed"],
      respond: ({ path: [schema, name] }) =>
        Effect.map(index.build(schema, name), (state) =>
          searchIndexStateShape.json({ table: `${schema}.${name}`, ...state }),
        ),
    }),
    manageEndpoint({
      ...common,
      id: "dropSearchIndex",
      method: "DELETE",
      summary: "Drop the search index",
      description: "Searches with `q` have the same results without it.",
      action: "column.change",
      response: one(countShape, "How many indexes were dropped."),
      errors: ["no_such_table", "not_indexable", "no_right", "no_trigrams", "build_failed"],
      respond: ({ path: [schema, name] }) => Effect.map(index.drop(schema, name), (count) => ({ count })),
    }),
  ]
})

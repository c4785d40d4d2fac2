/** The readable tables and views over the API: the list of all, and one with its columns. */
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { tableDetailShape, tableShape } from "@data-cabinet/core/row/Table"
import { tablesOf } from "@data-cabinet/core/row/Tables"
import { Effect, Option } from "effect"
import type { Endpoint } from "../api/Endpoint.ts"
import { endpointRoute, respondBy } from "../api/EndpointRoute.ts"
import { COLUMN_EXAMPLES, TABLE_EXAMPLE } from "../openapi/Examples.ts"
import { ref } from "../openapi/Schemas.ts"
import { NO_SUCH_TABLE, TABLE_PATH } from "./TablePath.ts"

export const listTables: Endpoint = {
  id: "listTables",
  tag: "Tables",
  path: "/api/v1/tables",
  summary: "All readable tables and views",
  description:
    "The tables of sources (schema `sources`) and the customer's own tables and views, by schema and name. The list is not paginated.",
  pathParameters: [],
  query: [],
  response: {
    description: "The tables and views.",
    schema: ref("TableList"),
    example: { data: [TABLE_EXAMPLE], has_more: false, next_cursor: null },
  },
  errors: [],
}

export const getTable: Endpoint = {
  id: "getTable",
  tag: "Tables",
  path: "/api/v1/tables/{schema}/{name}",
  summary: "One table or view",
  description: "A table or view with its columns, its primary key and, for a view, its query.",
  pathParameters: TABLE_PATH,
  query: [],
  response: {
    description: "The table or view.",
    schema: tableDetailShape.schema,
    example: { ...TABLE_EXAMPLE, columns: COLUMN_EXAMPLES, key: ["_event_id"], definition: null },
  },
  errors: ["no_such_table"],
}

export const tableRoutes = Effect.gen(function* () {
  const catalog = yield* Catalog
  return [
    yield* endpointRoute(
      listTables,
      respondBy(({ scope }) =>
        Effect.map(tablesOf(catalog, scope).list, (all) =>
          JSON.stringify({ data: all.map(tableShape.json), has_more: false, next_cursor: null }),
        ),
      ),
    ),
    yield* endpointRoute(
      getTable,
      respondBy(({ path, scope }) => {
        const [schema, name] = path as [string, string]
        return Effect.flatMap(tablesOf(catalog, scope).find(schema, name), (detail) =>
          Option.isSome(detail)
            ? Effect.succeed(JSON.stringify(tableDetailShape.json(detail.value)))
            : Effect.fail(NO_SUCH_TABLE),
        )
      }),
    ),
  ]
})

/** Tables with their rows, as the read API has them, over the management API. */
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { tableDetailShape, tableShape } from "@data-cabinet/core/row/Table"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Option } from "effect"
import { pageBody } from "../html/PageBody.ts"
import { list, one, whole } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nameSegment } from "../manage/ManageParameters.ts"
import { columnsJson, listRows, SELECTION_PARAMETERS } from "./RowsEndpoint.ts"
import { NO_SUCH_TABLE } from "./TablePath.ts"

const TABLE_SEGMENTS = [
  nameSegment("schema", "The schema's name.", "sources"),
  nameSegment("name", "The name of the table or view.", "orders"),
] as const

/** What the endpoints of one table have in common. */
export const ofTable = { tag: "Tables", segments: TABLE_SEGMENTS, params: { no_such_table: "name" } } as const

export const manageTables = Effect.gen(function* () {
  const catalog = yield* Catalog
  const rows = yield* SelectRows
  return [
    manageEndpoint({
      id: "listTables",
      tag: "Tables",
      method: "GET",
      path: "/manage/v1/tables",
      summary: "All readable tables and views",
      description: "By schema and name. The list is not paginated.",
      action: "row.read",
      response: list(tableShape, "The tables and views."),
      respond: () => Effect.map(catalog.list, (all) => whole(all.map(tableShape.json))),
    }),
    manageEndpoint({
      ...ofTable,
      id: "getTable",
      method: "GET",
      path: "/manage/v1/tables/{schema}/{name}",
      summary: "One table or view",
      description: "With its columns, its primary key and, for a view, its query.",
      action: "row.read",
      response: one(tableDetailShape, "The table or view."),
      errors: ["no_such_table"],
      respond: ({ path: [schema, name] }) =>
        Effect.flatMap(catalog.find(schema, name), (found) =>
          Option.isSome(found) ? Effect.succeed(tableDetailShape.json(found.value.detail)) : Effect.fail(NO_SUCH_TABLE),
        ),
    }),
    manageEndpoint({
      ...ofTable,
      id: "listRows",
      method: "GET",
      path: "/manage/v1/tables/{schema}/{name}/rows",
      summary: "Rows of a table or view",
      description: listRows.description,
      action: "row.read",
      readApiParameters: SELECTION_PARAMETERS,
      response: { status: 200, description: listRows.response.description, schema: listRows.response.schema },
      errors: listRows.errors,
      respond: ({ path: [schema, name], pairs }) =>
        Effect.map(
          fromCall((call) => rows.page({ schema, name, params: pairs }, call)),
          ({ items, hasMore, nextCursor, columns }) =>
            pageBody(
              items,
              `"has_more":${hasMore},"next_cursor":${JSON.stringify(nextCursor)},"columns":${columnsJson(columns)}`,
            ),
        ),
    }),
  ]
})

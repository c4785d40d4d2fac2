/** Tables with their rows, as the read API has them, over the management API. */
import * as Shape from "@data-cabinet/core/json/Shape"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { tableDetailShape, tableShape } from "@data-cabinet/core/row/Table"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { type Facets, rowCountShape, SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { SAMPLE_PARAMS } from "@data-cabinet/core/selection/SampleWalk"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { Effect, Option } from "effect"
import { pageBody } from "../html/PageBody.ts"
import { list, one, whole } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nameSegment, textParameter } from "../manage/ManageParameters.ts"
import { columnsJson, listRows, SELECTION_PARAMETERS } from "./RowsEndpoint.ts"
import { NO_SUCH_TABLE } from "./TablePath.ts"

const segments = [
  nameSegment("schema", "The schema's name.", "sources"),
  nameSegment("name", "The name of the table or view.", "orders"),
] as const

const selecting = SELECTION_PARAMETERS.filter(({ name }) => SAMPLE_PARAMS.some((known) => known === name))
const SAMPLE_ERRORS = listRows.errors.filter((code) => code !== "bad_limit" && code !== "bad_cursor")

/** As `facetsText` writes them. */
const facetsShape = Shape.named(
  "Facets",
  Shape.describedOnly("The values that a column has most often.", {
    column: Shape.text("The column."),
    data: Shape.leaf({
      type: "array",
      maxItems: 20,
      items: Shape.describedOnly("A value.", {
        value: Shape.leaf({ description: "As rows have it." }),
        count: Shape.whole("How many rows have it."),
      }).schema,
      description: "The most frequent values first.",
    }),
    others: Shape.whole("How many of the rows have other values."),
    rows: Shape.whole("How many rows were looked at: the first of the selection."),
    exact: Shape.flag("Whether these are all rows of the selection."),
  }),
)

/** Each value keeps its digits. */
const facetsText = ({ column, values, others, rows, exact }: Facets): string => {
  const data = values.map(({ value, count }) => `{"value":${value},"count":${count}}`)
  return `{"column":${JSON.stringify(column)},"data":[${data.join(",")}],"others":${others},"rows":${rows},"exact":${exact}}\n`
}

export const manageTables = Effect.gen(function* () {
  const catalog = yield* Catalog
  const rows = yield* SelectRows
  const sample = yield* SampleRows
  const common = { tag: "Tables", segments, params: { no_such_table: "name" } } as const
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
      ...common,
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
      ...common,
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
    manageEndpoint({
      ...common,
      id: "countRows",
      method: "GET",
      path: "/manage/v1/tables/{schema}/{name}/count",
      summary: "How many rows",
      description:
        "The rows of a selection are counted up to 10,000, for a second at most; `at_least` says if there may be more.",
      action: "row.read",
      readApiParameters: selecting,
      response: one(rowCountShape, "The count."),
      errors: SAMPLE_ERRORS,
      respond: ({ path: [schema, name], pairs }) =>
        Effect.map(sample.count({ schema, name, params: pairs }), rowCountShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "listFacets",
      method: "GET",
      path: "/manage/v1/tables/{schema}/{name}/facets",
      summary: "The values of a column",
      description:
        "Which values a column has most often, in the first 10,000 rows of a selection or as many as a second allows; `exact` says if those are all.",
      action: "row.read",
      parameters: [{ ...textParameter("column", "The column."), required: true }],
      readApiParameters: selecting,
      response: one(facetsShape, "The values."),
      errors: SAMPLE_ERRORS,
      respond: ({ path: [schema, name], query: { column = "" }, pairs }) => {
        const params = pairs.filter(([parameter]) => parameter !== "column")
        return Effect.map(sample.facets({ schema, name, params }, column), (found) => Buffer.from(facetsText(found)))
      },
    }),
  ]
})

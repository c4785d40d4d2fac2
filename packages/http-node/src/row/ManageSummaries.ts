/** A selection of rows in numbers, over the management API. */
import * as Shape from "@data-cabinet/core/json/Shape"
import { facetsText, rowCountShape, SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { SAMPLE_PARAMS } from "@data-cabinet/core/selection/SampleWalk"
import { SummarizeRows } from "@data-cabinet/core/selection/SummarizeRows"
import { Effect } from "effect"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { textParameter } from "../manage/ManageParameters.ts"
import { one } from "../manage/ManageResponses.ts"
import { ofTable } from "./ManageTables.ts"
import { listRows, SELECTION_PARAMETERS } from "./RowsEndpoint.ts"

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

/** As `SummarizeRows` writes it. */
const summaryShape = Shape.named(
  "RowsSummary",
  Shape.describedOnly("A selection in numbers; only `rows` without a column.", {
    rows: Shape.whole("How many rows there are."),
    column: Shape.text("The column."),
    filled: Shape.whole("How many rows have a value in it. This and the next four only for numbers and times."),
    sum: Shape.leaf({ description: "With every digit; null without values, and for times." }),
    average: Shape.leaf({ description: "From 1 on, with at most four digits after the point." }),
    least: Shape.leaf({ description: "As rows have it." }),
    greatest: Shape.leaf({ description: "As rows have it." }),
    values: facetsShape,
  }),
)

export const manageSummaries = Effect.gen(function* () {
  const sample = yield* SampleRows
  const summaries = yield* SummarizeRows
  return [
    manageEndpoint({
      ...ofTable,
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
      ...ofTable,
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
        return Effect.map(sample.facets({ schema, name, params }, column), (found) =>
          Buffer.from(`${facetsText(found)}\n`),
        )
      },
    }),
    manageEndpoint({
      ...ofTable,
      id: "summarizeRows",
      method: "GET",
      path: "/manage/v1/tables/{schema}/{name}/summary",
      summary: "Rows in numbers",
      description:
        "How many rows a selection has, exactly. With `column` also the sum, average, least and greatest of its numbers or times, and its most frequent values. A selection that cannot be counted in time is refused.",
      action: "row.read",
      parameters: [textParameter("column", "The column.")],
      readApiParameters: selecting,
      response: one(summaryShape, "The numbers."),
      errors: SAMPLE_ERRORS,
      respond: ({ path: [schema, name], query: { column }, pairs }) => {
        const params = pairs.filter(([parameter]) => parameter !== "column")
        return Effect.map(summaries.summary({ schema, name, params }, column), (text) => Buffer.from(`${text}\n`))
      },
    }),
  ]
})

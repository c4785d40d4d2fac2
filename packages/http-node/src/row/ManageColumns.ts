/** The columns of sources' tables over the management API. */
import { changeColumn, changedColumnShape } from "@data-cabinet/core/row/ChangeColumn"
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import { DATE_NOTATIONS, NUMBER_NOTATIONS } from "@data-cabinet/core/row/Notation"
import { retypeTrialShape, sourceColumnShape } from "@data-cabinet/core/row/SourceColumnStore"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import { Effect, Schema } from "effect"
import { list, one, whole } from "../manage/ManageResponses.ts"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import type { ManageError } from "../manage/ManageError.ts"
import { idSegment, nameSegment, wordParameter } from "../manage/ManageParameters.ts"

const id = idSegment("The source's id.")

const columnChange = Schema.Struct({
  label: Schema.optionalKey(text(1000, "The label shown on screen.")),
  type: Schema.optionalKey(Schema.Literals(COLUMN_KINDS).annotate({ description: "Its new type." })),
  numbers: Schema.optionalKey(
    Schema.Literals(NUMBER_NOTATIONS).annotate({
      description: "How numbers are written in a column of text that becomes one of numbers: `1.234,50` or `1,234.50`.",
    }),
  ),
  dates: Schema.optionalKey(
    Schema.Literals(DATE_NOTATIONS).annotate({
      description: "The order of day, month and year in a column of text that becomes one of days or times.",
    }),
  ),
  with_views: Schema.optionalKey(Schema.Boolean.annotate({ description: "Recreates the views that depend on it." })),
})

const TYPE = wordParameter("type", COLUMN_KINDS, "The new type.", true)

const NUMBERS = wordParameter("numbers", NUMBER_NOTATIONS, "How numbers are written in the column.")
const DATES = wordParameter("dates", DATE_NOTATIONS, "The order of day, month and year in the column.")

const noType: ManageError = {
  code: "bad_body",
  message: "A notation needs a type, for which the column's values are read in it.",
  param: "/type",
}

const noChange: ManageError = { code: "bad_body", message: "The body must have a label, a type or both.", param: "" }

/** Their common fields. */
const common = {
  tag: "Sources",
  segments: [id],
  errors: ["no_such_source", "no_table", "no_such_column"],
  params: { no_such_source: "id", no_table: "id", no_such_column: "column" },
} as const

export const manageColumns = Effect.gen(function* () {
  const columns = yield* SourceColumns
  return [
    manageEndpoint({
      ...common,
      id: "listColumns",
      method: "GET",
      path: "/manage/v1/sources/{id}/columns",
      summary: "The columns of a source's table",
      description: "Every column with the field it takes. The list is not paginated.",
      action: "column.read",
      response: list(sourceColumnShape, "The columns."),
      respond: ({ path: [source] }) =>
        Effect.map(columns.list(source), (all) => whole(all.map(sourceColumnShape.json))),
    }),
    manageEndpoint({
      ...common,
      id: "changeColumn",
      method: "PATCH",
      path: "/manage/v1/sources/{id}/columns/{column}",
      summary: "Change a column",
      description:
        "Changes its label, its type, or both: values that the new type cannot hold exactly move to a sibling column.",
      action: "column.change",
      segments: [id, nameSegment("column", "The column's name in the database.", "total")],
      body: columnChange,
      response: one(changedColumnShape, "The column, and what moved."),
      errors: [
        ...common.errors,
        "bad_label",
        "bad_notation",
        "views_depend",
        "objects_depend",
        "views_slow",
        "table_busy",
      ],
      params: { ...common.params, bad_label: "/label", views_depend: "/with_views" },
      respond: Effect.fnUntraced(function* ({ path: [source, name], body: { label, type, with_views, ...notation } }) {
        if (label === undefined && type === undefined) return yield* Effect.fail(noChange)
        if (type === undefined && (notation.numbers ?? notation.dates) !== undefined) return yield* Effect.fail(noType)
        const change = { label, type, withViews: with_views ?? false, notation }
        return changedColumnShape.json(yield* changeColumn(columns, source, name, change))
      }),
    }),
    manageEndpoint({
      ...common,
      id: "dropColumn",
      method: "DELETE",
      path: "/manage/v1/sources/{id}/columns/{column}",
      summary: "Drop a column without a value",
      description:
        "Nothing else may use it. The field's next value creates the column again. The table is locked while it is looked through once; rows sent meanwhile follow.",
      action: "column.change",
      segments: [id, nameSegment("column", "The column's name in the database.", "total")],
      response: one(sourceColumnShape, "The column that was dropped."),
      errors: [
        ...common.errors,
        "fixed_column",
        "column_filled",
        "column_used",
        "columns_used_up",
        "views_depend",
        "objects_depend",
        "table_busy",
      ],
      params: { ...common.params, fixed_column: "column", column_filled: "column" },
      respond: ({ path: [source, name] }) => Effect.map(columns.drop(source, name), sourceColumnShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "tryRetype",
      method: "GET",
      path: "/manage/v1/sources/{id}/columns/{column}/retype",
      summary: "Try a change of a column's type",
      description:
        "What a change to this type would do, with the first values that would move. Nothing is changed, and it is refused where something depends on the column that cannot be recreated.",
      action: "column.change",
      segments: [id, nameSegment("column", "The column's name in the database.", "total")],
      parameters: [TYPE, NUMBERS, DATES],
      response: one(retypeTrialShape, "What would happen."),
      errors: [...common.errors, "bad_notation", "views_depend", "objects_depend", "table_busy"],
      respond: ({ path: [source, name], query: { type, ...notation } }) =>
        Effect.map(columns.tryRetype(source, name, type!, notation), retypeTrialShape.json),
    }),
  ]
})

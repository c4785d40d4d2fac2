/** Rebuilds of sources' tables over the management API. */
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import { rebuildCancelledShape, rebuildStateShape } from "@data-cabinet/core/row/RebuildState"
import { rebuildPreviewShape, type RebuildWishes } from "@data-cabinet/core/row/RebuildStore"
import { TableRebuild } from "@data-cabinet/core/row/TableRebuild"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { one } from "../manage/ManageResponses.ts"

const column = Schema.Struct({
  column: text(63, "The column's present name."),
  type: Schema.optionalKey(Schema.Literals(COLUMN_KINDS).annotate({ description: "Its new type." })),
  name: Schema.optionalKey(text(63, "Its new name.")),
})

const wishes = Schema.Struct({
  columns: Schema.optionalKey(
    Schema.Array(column).annotate({
      description: "The columns that come first, in this order; the others follow as they are.",
    }),
  ),
  without_empty: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Leaves out columns that have no value and that nothing uses." }),
  ),
  nest_brackets: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "Makes fields like `leads[0][name]` members of `leads`, as a source with that setting does.",
    }),
  ),
})

const wishesOf = ({ columns = [], without_empty, nest_brackets }: typeof wishes.Type): RebuildWishes => ({
  columns,
  withoutEmpty: without_empty ?? false,
  nestBrackets: nest_brackets ?? false,
})

export const manageTableRebuild = Effect.gen(function* () {
  const rebuilds = yield* TableRebuild
  const common = {
    tag: "Sources",
    path: "/manage/v1/sources/{id}/rebuild",
    segments: [idSegment("The source's id.")],
    params: {
      no_such_source: "id",
      no_table: "id",
      no_rebuild: "id",
      no_such_column: "/columns",
      bad_columns: "/columns",
    },
  } as const
  const refusals = ["no_such_source", "no_table", "no_such_column", "bad_columns", "no_right"] as const
  return [
    manageEndpoint({
      ...common,
      id: "getTableRebuild",
      method: "GET",
      summary: "The latest rebuild of a source's table",
      description: "How far it is, or how it ended, whichever process runs it.",
      action: "column.read",
      response: one(rebuildStateShape, "The rebuild."),
      errors: ["no_rebuild"],
      respond: ({ path: [id] }) => Effect.map(rebuilds.state(id), rebuildStateShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "startTableRebuild",
      method: "POST",
      summary: "Rebuild a source's table",
      description:
        "Writes the table again from its events, beside the old one, while events are accepted and rows are read; then it takes the old one's place. Responds within seconds; the rebuild continues in the server's process, and its state says how far it is. Refused, cancelled or interrupted, it changes nothing.",
      action: "column.change",
      body: wishes,
      response: one(rebuildStateShape, "The rebuild."),
      errors: [
        ...refusals,
        "objects_depend",
        "rows_without_event",
        "row_refused",
        "view_failed",
        "table_busy",
        "rebuild_running",
        "rebuild_ended",
      ],
      respond: ({ path: [id], body }) => Effect.map(rebuilds.start(id, wishesOf(body)), rebuildStateShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "tryTableRebuild",
      method: "POST",
      path: `${common.path}/preview`,
      summary: "What a rebuild of a table would do",
      description:
        "The new columns, what is recreated, and what stands in the way. Nothing is changed; the table is read once.",
      action: "column.change",
      body: wishes,
      response: one(rebuildPreviewShape, "What would happen."),
      errors: refusals,
      respond: ({ path: [id], body }) => Effect.map(rebuilds.plan(id, wishesOf(body)), rebuildPreviewShape.json),
    }),
    manageEndpoint({
      ...common,
      id: "cancelTableRebuild",
      method: "POST",
      path: `${common.path}/cancel`,
      summary: "Cancel a rebuild",
      description: "Ends the running rebuild, whichever process runs it. The table stays as it was.",
      action: "column.change",
      response: one(rebuildCancelledShape, "Whether one was running."),
      errors: ["table_busy"],
      respond: ({ path: [id] }) =>
        Effect.map(rebuilds.cancel(id), (cancelled) => rebuildCancelledShape.json({ sourceId: id, cancelled })),
    }),
  ]
})

/** Views of the latest row by key over the management API. */
import { LatestViews, latestViewShape } from "@data-cabinet/core/row/LatestViews"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { nameSegment } from "../manage/ManageParameters.ts"
import { one } from "../manage/ManageResponses.ts"

const body = Schema.Struct({
  keys: Schema.Array(text(63, "A column.")).annotate({
    description: "The key: 1 to 32 columns. Rows in which one of them is empty are left out.",
  }),
  by: Schema.optionalKey(text(63, "The column that decides which row is later; by default `_event_id`.")),
  view: Schema.optionalKey(text(300, "The view's name with its schema; by default `public.NAME_latest`.")),
  replace: Schema.optionalKey(
    Schema.Boolean.annotate({
      description: "True: a view of this name is replaced, which adds columns that the table got since.",
    }),
  ),
  dry_run: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "True: the statement is shown, and nothing is created." }),
  ),
})

export const manageLatestViews = Effect.gen(function* () {
  const views = yield* LatestViews
  return [
    manageEndpoint({
      id: "createLatestView",
      tag: "Tables",
      method: "POST",
      path: "/manage/v1/tables/{schema}/{name}/latest-view",
      segments: [
        nameSegment("schema", "The schema's name.", "sources"),
        nameSegment("name", "The name of the table or view.", "orders"),
      ],
      summary: "Create a view of the latest row by key",
      description:
        "A source's table only grows: an order that changes is sent again, and has a row each time. The view has the latest of each.",
      action: "latest_view.create",
      body,
      response: one(latestViewShape, "The view."),
      errors: ["no_such_table", "no_such_column", "bad_columns", "bad_view_name", "no_author", "view_failed"],
      params: {
        no_such_table: "name",
        no_such_column: "/keys",
        bad_columns: "/keys",
        bad_view_name: "/view",
        view_failed: "/view",
      },
      respond: ({ path: [schema, name], body: { dry_run = false, ...query } }) =>
        dry_run ? views.show({ schema, name, ...query }) : views.create({ schema, name, ...query }),
    }),
  ]
})

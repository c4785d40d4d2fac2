/** Saved views over the management API. */
import { savedViewShape } from "@data-cabinet/core/view/SavedView"
import { MAX_QUERY_LENGTH, MAX_TITLE_LENGTH, SavedViews } from "@data-cabinet/core/view/SavedViews"
import { Effect, Schema } from "effect"
import { text } from "../manage/ManageBodies.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { idSegment } from "../manage/ManageParameters.ts"
import { list, nothing, one, whole } from "../manage/ManageResponses.ts"

const newView = Schema.Struct({
  title: text(MAX_TITLE_LENGTH, "The view's title."),
  schema: text(63, "The schema of the table or view."),
  name: text(63, "Its name."),
  query: text(MAX_QUERY_LENGTH, "The query string of its rows; a cursor in it is left out."),
  shared: Schema.optionalKey(
    Schema.Boolean.annotate({ description: "Whether everyone sees it; otherwise only you and owners." }),
  ),
})

export const manageViews = Effect.gen(function* () {
  const views = yield* SavedViews
  const id = idSegment("The view's id.")
  return [
    manageEndpoint({
      id: "listViews",
      tag: "Tables",
      method: "GET",
      path: "/manage/v1/views",
      summary: "The saved views",
      description: "Your own and those shared with everyone, by title; for owners, all. The list is not paginated.",
      action: "view.read",
      response: list(savedViewShape, "The views."),
      respond: () => Effect.map(views.list, (all) => whole(all.map(savedViewShape.json))),
    }),
    manageEndpoint({
      id: "saveView",
      tag: "Tables",
      method: "POST",
      path: "/manage/v1/views",
      summary: "Save a view",
      description: "A selection of a table's rows under a title. It is refused if the rows would be.",
      action: "view.change",
      // Reading the rows may take seconds, and must not hold a session of the owner.
      once: { completed: "after" },
      body: newView,
      response: one(savedViewShape, "The view.", 201),
      errors: ["bad_title", "bad_query", "too_many_views"],
      params: { bad_title: "/title", bad_query: "/query" },
      respond: ({ body: { shared = false, ...view } }) =>
        Effect.map(views.save({ ...view, shared }), savedViewShape.json),
    }),
    manageEndpoint({
      id: "removeView",
      tag: "Tables",
      method: "DELETE",
      path: "/manage/v1/views/{id}",
      summary: "Remove a saved view",
      description: "One of your own; an owner removes any.",
      action: "view.change",
      segments: [id],
      response: nothing("It is removed."),
      errors: ["no_such_view", "not_your_view"],
      params: { no_such_view: "id" },
      respond: ({ path: [view] }) => Effect.as(views.remove(view), undefined),
    }),
  ]
})

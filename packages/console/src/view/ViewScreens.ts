/** The addresses of saved views: each leads to its table's, and one that is saved or removed to the list beside the tables. */
import { SavedViews } from "@data-cabinet/core/view/SavedViews"
import { Effect } from "effect"
import { act, fieldOf, idOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { viewPath } from "../table/ViewList.ts"

export const viewScreens = Effect.map(SavedViews, (views): ReadonlyArray<ConsoleScreen> => [
  act({
    path: "/console/views",
    action: "view.change",
    home: () => "tables",
    repeat: "once",
    respond: (call) => {
      const field = (name: string) => fieldOf(call, name)
      const view = { title: field("title"), schema: field("schema"), name: field("name"), query: field("query") }
      return Effect.map(views.save({ ...view, shared: field("shared") === "on" }), (saved) => ({
        location: viewPath(call.frame, saved),
      }))
    },
  }),
  {
    path: "/console/views/{id}",
    action: "view.read",
    get: ({ frame, path: [id] }) => Effect.map(views.get(idOf(id)), (view) => ({ location: viewPath(frame, view) })),
  },
  act({
    path: "/console/views/{id}/remove",
    action: "view.change",
    home: () => "tables",
    repeat: "allowed",
    respond: ({ path: [id] }) => Effect.as(views.remove(idOf(id)), null),
  }),
])

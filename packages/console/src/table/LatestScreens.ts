/** The screen that creates a view of the latest row by key, once its statement was seen. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { LatestViews } from "@data-cabinet/core/row/LatestViews"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import type { ConsoleScreen, Pairs } from "../screen/ConsoleScreen.ts"
import { statusOf } from "../screen/ErrorScreen.ts"
import { asTyped } from "../screen/FormAgain.ts"
import { type LatestForm, latestScreen } from "./LatestScreen.ts"
import { valueOf, valuesOf } from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const EVENT_ID = "_event_id"

const formOf = ({ detail, columns }: ReadableTable, pairs: Pairs): LatestForm => {
  const usual = columns.some(({ name }) => name === EVENT_ID) ? EVENT_ID : (detail.key[0] ?? columns[0]?.name ?? "")
  return {
    keys: valuesOf(pairs, "key"),
    by: valueOf(pairs, "by") ?? usual,
    view: valueOf(pairs, "view")?.trim() ?? `public.${detail.name}_latest`,
    replace: valueOf(pairs, "replace") === "on",
  }
}

export const latestScreens = (found: Find) =>
  Effect.map(LatestViews, (views): ReadonlyArray<ConsoleScreen> => [
    {
      path: "/console/tables/{schema}/{name}/latest",
      action: "latest_view.create",
      back: ([schema = "", name = ""]) => `tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/latest`,
      get: Effect.fnUntraced(function* ({ frame, path: [schema = "", name = ""], pairs }) {
        const table = yield* found(schema, name)
        const form = formOf(table, pairs)
        // A form that was not sent requests nothing.
        if (valueOf(pairs, "view") === undefined) {
          return { screen: latestScreen(frame, { table, form, shown: null }) }
        }
        const outcome = yield* Effect.match(views.show({ schema, name, ...form }), {
          onSuccess: (shown) => ({ shown, refused: null }),
          onFailure: (error) => ({ shown: null, refused: manageErrorOf(error) }),
        })
        const { shown, refused } = outcome
        const screen = latestScreen(frame, { table, form, shown })
        if (refused === null) return { screen }
        const typed = { action: `${tablePath(frame, schema, name)}/latest`, pairs }
        return { screen: asTyped(frame, screen, typed, refused), status: statusOf(refused) }
      }),
      post: {
        action: "latest_view.create",
        repeat: "once",
        respond: Effect.fnUntraced(function* ({ frame, path: [schema = "", name = ""], form }) {
          const table = yield* found(schema, name)
          const { view } = yield* views.create({ schema, name, ...formOf(table, form) })
          const dot = view.indexOf(".")
          return { location: tablePath(frame, view.slice(0, dot), view.slice(dot + 1)) }
        }),
      },
    },
  ])

/** The menu of a column, and the settings of the selection of a wide table: both are read on demand. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { shownColumns } from "@data-cabinet/core/selection/ShownColumns"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { type ConsoleScreen, wantsFragment } from "../screen/ConsoleScreen.ts"
import { columnMenu, columnMenuScreen } from "./ColumnHeading.ts"
import { valueOf, without } from "../screen/SelectionLinks.ts"
import { tableBar } from "./TableScreen.ts"
import { settingsScreen } from "./TableToolbar.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const noColumn: ManageError = { code: "unknown_column", message: "This column no longer exists.", param: "column" }

export const selectionScreens = (found: Find): ReadonlyArray<ConsoleScreen> => {
  const path = "/console/tables/{schema}/{name}" as const
  return [
    {
      path: `${path}/menu`,
      action: "row.read",
      get: Effect.fnUntraced(function* (call) {
        const [schema, name] = call.path
        const table = yield* found(schema!, name!)
        const wanted = valueOf(call.pairs, "column")
        const column = table.columns.find((one) => one.name === wanted)
        if (column === undefined) return yield* Effect.fail(noColumn)
        const pairs = without(call.pairs, "column")
        const bar = tableBar(table, pairs, yield* Effect.fromResult(shownColumns(table, pairs)))
        return wantsFragment(call)
          ? { fragment: columnMenu(call.frame, bar, column).text }
          : { screen: columnMenuScreen(call.frame, bar, column) }
      }),
    },
    {
      path: `${path}/settings`,
      action: "row.read",
      get: Effect.fnUntraced(function* ({ frame, path: [schema, name], pairs }) {
        const table = yield* found(schema!, name!)
        return {
          screen: settingsScreen(frame, tableBar(table, pairs, yield* Effect.fromResult(shownColumns(table, pairs)))),
        }
      }),
    },
  ]
}

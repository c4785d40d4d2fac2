/** The screens of one table: the table, its rows as lines for the script, one row, and the redirect of its form. */
import { EXPORT_FORMATS } from "@data-cabinet/core/export/ExportFormat"
import { SavedViews } from "@data-cabinet/core/view/SavedViews"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Clock, Effect } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { type ConsoleScreen, wantsFragment } from "../screen/ConsoleScreen.ts"
import { rowLine } from "./Cells.ts"
import { filterLineScreen } from "./FilterLineScreens.ts"
import { exportRows } from "./ExportRows.ts"
import { rowPanel, rowScreen } from "./RowScreen.ts"
import { todayIn } from "./Days.ts"
import { selectionOfForm } from "./SelectionForm.ts"
import { valuesOf, withQuery } from "../screen/SelectionLinks.ts"
import { BADGE } from "./ColumnPart.ts"
import { indexBuilds } from "./IndexBuilds.ts"
import { indexScreens } from "./IndexScreens.ts"
import { rebuildScreens } from "./RebuildScreens.ts"
import { latestScreens } from "./LatestScreens.ts"
import { pictureScreens } from "./PictureScreens.ts"
import { columnScreens } from "./ColumnScreens.ts"
import { valueScreens } from "./ValueScreens.ts"
import { tablePath } from "./TablePath.ts"
import { liveFrom } from "../live/LiveScreens.ts"
import { selectionScreens } from "./SelectionScreens.ts"
import { tablePages } from "./TablePages.ts"
import { rowFormat } from "./TableScreen.ts"
import { tableVisit } from "./TableVisit.ts"

const exportScreens = (exporting: Effect.Success<typeof exportRows>): ReadonlyArray<ConsoleScreen> =>
  EXPORT_FORMATS.map((format) => ({
    path: `/console/tables/{schema}/{name}/export.${format}`,
    action: "row.read",
    get: ({ path: [schema, name], pairs, actor }) =>
      exporting({ schema: schema!, name: name!, params: pairs, format, actor }),
  }))

export const tableScreens = Effect.gen(function* () {
  const { found, page, whole } = yield* tablePages
  const builds = yield* indexBuilds
  const { timeZone } = yield* ConsoleSettings
  const path = "/console/tables/{schema}/{name}"

  const visited = tableVisit(yield* liveFrom, page, yield* SavedViews, timeZone)
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path,
      action: "row.read",
      get: Effect.fnUntraced(function* ({ frame, path: [schema, name], pairs }) {
        return yield* visited(frame, yield* found(schema!, name!), pairs)
      }),
    },
    {
      path: `${path}/rows`,
      action: "row.read",
      get: Effect.fnUntraced(function* ({ frame, path: [schema, name], pairs }) {
        const table = yield* found(schema!, name!)
        const read = yield* page(table, pairs)
        const { rows, nextCursor } = read
        const format = rowFormat(frame, { table, timeZone }, read, valuesOf(pairs, BADGE))
        const headers: Record<string, string> = nextCursor === null ? {} : { "x-next-cursor": nextCursor }
        return { fragment: rows.map((row) => rowLine(row, format)).join("\n"), headers }
      }),
    },
    {
      path: `${path}/row`,
      action: "row.read",
      get: Effect.fnUntraced(function* (call) {
        const [schema, name] = call.path
        const table = yield* found(schema!, name!)
        const { rows, columns } = yield* whole(table, [...call.pairs, ["limit", "1"]])
        const [row] = rows
        if (row === undefined) {
          return yield* Effect.fail<ManageError>({ code: "no_such_endpoint", message: "This row no longer exists." })
        }
        const data = { table, columns, row }
        return wantsFragment(call)
          ? { fragment: rowPanel(call.frame, data).text }
          : { screen: rowScreen(call.frame, data) }
      }),
    },
    {
      path: `${path}/select`,
      action: "row.read",
      get: Effect.fnUntraced(function* ({ frame, path: [schema, name], pairs }) {
        const { columns } = yield* found(schema!, name!)
        const names = columns.map((column) => column.name)
        return {
          location: withQuery(
            tablePath(frame, schema!, name!),
            selectionOfForm(pairs, names, todayIn(timeZone, yield* Clock.currentTimeMillis)),
          ),
        }
      }),
    },
  ]
  return [
    ...screens,
    filterLineScreen(found, visited),
    ...exportScreens(yield* exportRows),
    ...selectionScreens(found),
    ...(yield* valueScreens(found)),
    ...(yield* pictureScreens(found)),
    ...(yield* columnScreens(found, builds)),
    ...(yield* indexScreens(found, builds)),
    ...(yield* latestScreens(found)),
    ...(yield* rebuildScreens(found)),
  ]
})

/** Where a filter line leads: to its selection, or back to the table with what is wrong with it. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Result } from "effect"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import { statusOf } from "../screen/ErrorScreen.ts"
import { refusedAt } from "../screen/FormAgain.ts"
import { filterLine } from "./FilterLine.ts"
import { LINE, lineFault, linePath } from "./FilterLineForm.ts"
import { valueOf, withFilters, without, withQuery } from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"
import type { TableVisit } from "./TableVisit.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

export const filterLineScreen = (found: Find, visited: TableVisit): ConsoleScreen => ({
  path: "/console/tables/{schema}/{name}/filter",
  action: "row.read",
  get: Effect.fnUntraced(function* ({ frame, path: [schema = "", name = ""], pairs: sent }) {
    const table = yield* found(schema, name)
    const [line, pairs] = [valueOf(sent, LINE) ?? "", without(sent, LINE)]
    const filters = filterLine(line, table.detail.columns)
    if (Result.isSuccess(filters)) {
      return { location: withQuery(tablePath(frame, schema, name), withFilters(pairs, filters.success)) }
    }
    const { screen } = yield* visited(frame, table, pairs)
    const typed = { action: linePath(frame, table.detail), pairs: sent }
    const message = { fields: [LINE], html: lineFault(frame, line, filters.failure).text }
    return {
      screen: refusedAt(frame, screen, typed, message) ?? screen,
      status: statusOf({ code: "bad_filter" }),
    }
  }),
})

/** The screen of a column of a source's table, and the acts that change its label and its type. */
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { noSuchColumn } from "@data-cabinet/core/row/RetypePlan"
import { MORE_COLUMN } from "@data-cabinet/core/row/RowPlan"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { SourceColumns } from "@data-cabinet/core/row/SourceColumns"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Result } from "effect"
import { ConsoleSettings } from "../ConsoleSettings.ts"
import { type ConsoleScreen, wantsFragment } from "../screen/ConsoleScreen.ts"
import { statusOf } from "../screen/ErrorScreen.ts"
import { asTyped } from "../screen/FormAgain.ts"
import { columnActs } from "./ColumnActs.ts"
import { columnBuild, indexActs } from "./ColumnIndexActs.ts"
import { columnIndexes, indexesOf } from "./ColumnIndexBlock.ts"
import { columnPath, columnScreen } from "./ColumnScreen.ts"
import type { IndexBuilds } from "./IndexBuilds.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import { may } from "../html/Shell.ts"
import { notationIn } from "../html/Choice.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

/** Where a column is shown, from the segments of its address. */
const home = (segments: ReadonlyArray<string>) => {
  const [schema, name, column] = segments.map(encodeURIComponent)
  return `tables/${schema}/${name}/columns/${column}`
}

export const columnScreens = (found: Find, builds: IndexBuilds) =>
  Effect.gen(function* () {
    const columns = yield* SourceColumns
    const indexing = yield* ColumnIndexes
    const { timeZone } = yield* ConsoleSettings
    const path = "/console/tables/{schema}/{name}/columns/{column}" as const

    /** A column of a table that is a source's. */
    const columnAt = Effect.fnUntraced(function* ([schema = "", name = "", wanted = ""]: ReadonlyArray<string>) {
      const table = yield* found(schema, name)
      const { source } = table.detail
      if (source === null) return yield* noSuchColumn(name, wanted, [])
      const all = (yield* columns.list(source.id)).filter((one) => one.name !== MORE_COLUMN)
      const column = all.find((one) => one.name === wanted)
      const names = all.map((one) => one.name)
      return column === undefined ? yield* noSuchColumn(name, wanted, names) : { table, column, sourceId: source.id }
    })

    const screens: ReadonlyArray<ConsoleScreen> = [
      {
        path,
        action: "column.read",
        get: Effect.fnUntraced(function* (call) {
          const { frame, path: segments, pairs } = call
          const { table, column, sourceId } = yield* columnAt(segments)
          const { schema, name } = table.detail
          const build = columnBuild(table, column.name)
          const now = { running: builds.isRunning(build), refused: builds.refusal(build) }
          const all = yield* indexing.list(schema, name)
          const at = columnPath(frame, schema, name, column.name)
          const indexes = { path: at, indexes: indexesOf(all, column.name), ...now }
          if (wantsFragment(call)) return { fragment: columnIndexes(frame, indexes).text }
          const type = COLUMN_KINDS.find((kind) => kind === valueOf(pairs, "type"))
          if (type === undefined || !may(frame, "column.change")) {
            return { screen: columnScreen(frame, { table, column, timeZone, indexes, proposal: null }) }
          }
          const notation = notationIn((each) => valueOf(pairs, each))
          const tried = yield* Effect.result(columns.tryRetype(sourceId, column.name, type, notation))
          const trial = Result.getOrElse(tried, () => null)
          const proposal = trial === null ? null : { type, notation, trial }
          const screen = columnScreen(frame, { table, column, timeZone, indexes, proposal })
          if (Result.isSuccess(tried)) return { screen }
          const error = manageErrorOf(tried.failure)
          return { screen: asTyped(frame, screen, { action: at, pairs }, error), status: statusOf(error) }
        }),
      },
      ...columnActs({ path, home, columnAt, columns }),
      ...indexActs({ path, home, columnAt, indexing, builds }),
    ]
    return screens
  })

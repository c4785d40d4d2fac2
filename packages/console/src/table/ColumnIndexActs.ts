/** The acts that create and drop the index of a column. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import type { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { act, fieldOf } from "../screen/Act.ts"
import type { ConsoleScreen } from "../screen/ConsoleScreen.ts"
import type { IndexBuilds } from "./IndexBuilds.ts"

interface IndexActs {
  /** The address of the column's screen. */
  readonly path: ConsoleScreen["path"]
  readonly home: (segments: ReadonlyArray<string>) => string
  readonly columnAt: (
    segments: ReadonlyArray<string>,
  ) => Effect.Effect<
    { readonly table: ReadableTable; readonly column: { readonly name: string } },
    ManageError | StoreUnavailable
  >
  readonly indexing: ColumnIndexes["Service"]
  readonly builds: IndexBuilds
}

/** The name of a build of the index of one column. */
export const columnBuild = ({ detail }: ReadableTable, column: string): string =>
  `column ${column} of ${detail.schema}.${detail.name}`

export const indexActs = ({ path, home, columnAt, indexing, builds }: IndexActs): ReadonlyArray<ConsoleScreen> => [
  act({
    path: `${path}/index`,
    action: "column.change",
    home,
    // An index that serves the column is not built again.
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const { table, column } = yield* columnAt(call.path)
      const { schema, name } = table.detail
      yield* builds.begin(columnBuild(table, column.name), indexing.build(schema, name, [column.name]))
      return null
    }),
  }),
  act({
    path: `${path}/index/drop`,
    action: "column.change",
    home,
    repeat: "allowed",
    respond: Effect.fnUntraced(function* (call) {
      const { table } = yield* columnAt(call.path)
      yield* indexing.drop(table.detail.schema, table.detail.name, fieldOf(call, "index"))
      return null
    }),
  }),
]

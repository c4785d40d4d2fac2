/** The screen of a table's indexes, and the acts that create and drop them. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { ColumnIndexes } from "@data-cabinet/core/row/ColumnIndexes"
import { SearchIndex } from "@data-cabinet/core/row/SearchIndex"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { act, fieldOf, fieldsOf } from "../screen/Act.ts"
import { type ConsoleScreen, wantsFragment } from "../screen/ConsoleScreen.ts"
import type { IndexBuilds } from "./IndexBuilds.ts"
import { indexLists, indexScreen } from "./IndexScreen.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const home = ([schema = "", name = ""]: ReadonlyArray<string>) =>
  `tables/${encodeURIComponent(schema)}/${encodeURIComponent(name)}/indexes`

const BUSY: ManageError = {
  code: "busy",
  message: "An index of columns of this table is being built. Create the next one when it is done.",
}

export const indexScreens = (found: Find, builds: IndexBuilds) =>
  Effect.gen(function* () {
    const searching = yield* SearchIndex
    const indexing = yield* ColumnIndexes
    const path = "/console/tables/{schema}/{name}/indexes" as const
    const change = { action: "column.change", home, repeat: "allowed" } as const
    const searchOf = (schema: string, name: string) => `search of ${schema}.${name}`
    const columnsOf = (schema: string, name: string) => `columns of ${schema}.${name}`
    const stateOf = (name: string) => ({ running: builds.isRunning(name), refused: builds.refusal(name) })
    const screens: ReadonlyArray<ConsoleScreen> = [
      {
        path,
        action: "column.read",
        get: Effect.fnUntraced(function* (call) {
          const [schema = "", name = ""] = call.path
          const table = yield* found(schema, name)
          const builtNow = {
            searchBuild: stateOf(searchOf(schema, name)),
            columnBuild: stateOf(columnsOf(schema, name)),
          }
          const search = yield* searching.list(schema, name)
          const columns = yield* indexing.list(schema, name)
          const data = { table, search, columns, ...builtNow }
          return wantsFragment(call)
            ? { fragment: indexLists(call.frame, data).text }
            : { screen: indexScreen(call.frame, data) }
        }),
      },
      act({
        ...change,
        path: `${path}/search`,
        respond: Effect.fnUntraced(function* ({ path: [schema = "", name = ""] }) {
          yield* found(schema, name)
          yield* builds.begin(searchOf(schema, name), searching.build(schema, name))
          return null
        }),
      }),
      act({
        ...change,
        path: `${path}/search/drop`,
        respond: ({ path: [schema = "", name = ""] }) => Effect.as(searching.drop(schema, name), null),
      }),
      act({
        ...change,
        path: `${path}/build`,
        respond: Effect.fnUntraced(function* (call) {
          const [schema = "", name = ""] = call.path
          yield* found(schema, name)
          const columns = fieldsOf(call, "column").filter((column) => column !== "")
          // It may be one of other columns.
          if (builds.isRunning(columnsOf(schema, name))) return yield* Effect.fail(BUSY)
          yield* builds.begin(columnsOf(schema, name), indexing.build(schema, name, columns))
          return null
        }),
      }),
      act({
        ...change,
        path: `${path}/drop`,
        respond: (call) => {
          const [schema = "", name = ""] = call.path
          return Effect.as(indexing.drop(schema, name, fieldOf(call, "index")), null)
        },
      }),
    ]
    return screens
  })

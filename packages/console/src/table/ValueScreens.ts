/** The screens of counts and of a column's values, and the jump to a value; the script requests them as fragments. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { FindPlace } from "@data-cabinet/core/selection/FindPlace"
import { SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { SAMPLE_PARAMS } from "@data-cabinet/core/selection/SampleWalk"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect } from "effect"
import { type ConsoleScreen, type Pairs, wantsFragment } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery, without } from "./SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"
import { countScreen, countText, valueList, valuesScreen } from "./ValuesScreen.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const selecting = (pairs: Pairs): Pairs => pairs.filter(([name]) => SAMPLE_PARAMS.some((known) => known === name))

export const valueScreens = (found: Find) =>
  Effect.gen(function* () {
    const sample = yield* SampleRows
    const places = yield* FindPlace
    const path = "/console/tables/{schema}/{name}" as const
    const screens: ReadonlyArray<ConsoleScreen> = [
      {
        path: `${path}/count`,
        action: "row.read",
        get: Effect.fnUntraced(function* (call) {
          const { frame, pairs } = call
          const [schema = "", name = ""] = call.path
          const count = yield* sample.count({ schema, name, params: selecting(pairs) })
          if (wantsFragment(call)) return { fragment: countText(frame, count) }
          return { screen: countScreen(frame, yield* found(schema, name), pairs, count) }
        }),
      },
      {
        path: `${path}/jump`,
        action: "row.read",
        formAt: ({ frame, path: [schema = "", name = ""], pairs }) =>
          withQuery(tablePath({ ...frame, base: "" }, schema, name), without(pairs, "value", "cursor")),
        get: Effect.fnUntraced(function* ({ frame, path: [schema = "", name = ""], pairs }) {
          const selection = without(pairs, "value", "cursor")
          const cursor = yield* places.cursorAt({ schema, name, params: selection }, valueOf(pairs, "value") ?? "")
          const to: Pairs = cursor === null ? selection : [...selection, ["cursor", cursor]]
          return { location: withQuery(tablePath(frame, schema, name), to) }
        }),
      },
      {
        path: `${path}/values`,
        action: "row.read",
        get: Effect.fnUntraced(function* (call) {
          const { frame } = call
          const [schema = "", name = ""] = call.path
          const pairs = without(call.pairs, "column")
          const columnName = valueOf(call.pairs, "column") ?? ""
          const facets = yield* sample.facets({ schema, name, params: selecting(pairs) }, columnName)
          const table = yield* found(schema, name)
          const column = table.columns.find((one) => one.name === columnName)
          if (column === undefined) {
            const message = "This column no longer exists."
            return yield* Effect.fail<ManageError>({ code: "unknown_column", message, param: "column" })
          }
          const data = { table, column, facets, pairs }
          return wantsFragment(call) ? { fragment: valueList(frame, data).text } : { screen: valuesScreen(frame, data) }
        }),
      },
    ]
    return screens
  })

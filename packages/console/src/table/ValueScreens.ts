/** The screens of counts and of a column's values, and the jump to a value; the script requests them as fragments. */
import type { ReadableTable } from "@data-cabinet/core/row/Catalog"
import { ColumnSums, hasSums } from "@data-cabinet/core/selection/ColumnSums"
import { FindPlace } from "@data-cabinet/core/selection/FindPlace"
import { SampleRows } from "@data-cabinet/core/selection/SampleRows"
import { SAMPLE_PARAMS } from "@data-cabinet/core/selection/SampleWalk"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { Effect, Option } from "effect"
import { type ConsoleScreen, type Pairs, wantsFragment } from "../screen/ConsoleScreen.ts"
import { valueOf, withQuery, without } from "../screen/SelectionLinks.ts"
import { tablePath } from "./TablePath.ts"
import { EXACT, sumScreen, sumText } from "./SumScreen.ts"
import { countLine, countScreen, valueList, valuesScreen } from "./ValuesScreen.ts"

type Find = (schema: string, name: string) => Effect.Effect<ReadableTable, ManageError | StoreUnavailable>

const selecting = (pairs: Pairs): Pairs => pairs.filter(([name]) => SAMPLE_PARAMS.some((known) => known === name))

const isExact = (pairs: Pairs): boolean => pairs.some(([name]) => name === EXACT || name === "column")

const noSums: ManageError = { code: "unknown_column", message: "This column has no sum.", param: "column" }

/** The column that is summed; undefined for the rows alone. */
const summedColumn = ({ columns }: ReadableTable, pairs: Pairs) => {
  const name = valueOf(pairs, "column")
  const column = columns.find((one) => one.name === name)
  if (name === undefined) return Effect.succeed(column)
  return column !== undefined && hasSums(column) ? Effect.succeed(column) : Effect.fail(noSums)
}

export const valueScreens = (found: Find) =>
  Effect.gen(function* () {
    const sample = yield* SampleRows
    const places = yield* FindPlace
    const sums = yield* ColumnSums
    const path = "/console/tables/{schema}/{name}" as const
    const screens: ReadonlyArray<ConsoleScreen> = [
      {
        path: `${path}/count`,
        action: "row.read",
        get: Effect.fnUntraced(function* (call) {
          const { frame, pairs } = call
          const [schema = "", name = ""] = call.path
          if (isExact(pairs)) {
            const table = yield* found(schema, name)
            const column = yield* summedColumn(table, pairs)
            const sum = Option.getOrNull(yield* sums.sum(table, selecting(pairs), column))
            const data = { table, column, sum, pairs: without(pairs, "column", EXACT) }
            return wantsFragment(call) ? { fragment: sumText(frame, data).text } : { screen: sumScreen(frame, data) }
          }
          const count = yield* sample.count({ schema, name, params: selecting(pairs) })
          const table = yield* found(schema, name)
          return wantsFragment(call)
            ? { fragment: countLine(frame, table, pairs, count).text }
            : { screen: countScreen(frame, table, pairs, count) }
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

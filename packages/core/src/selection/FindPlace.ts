/**
 * Finds the place of a value in the order of a selection, as the cursor of the page that begins with it. It costs as
 * much as a first page: the one row before the place is read backwards, by the same index. Refuses selections without a
 * sort, objects whose rows are distinguished by their text, and values that the column's type cannot read.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { encodeCursor, MAX_CURSOR_LENGTH } from "../pagination/Cursor.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { Catalog } from "../row/Catalog.ts"
import { ReadError } from "../row/ReadError.ts"
import { RowReader } from "../row/RowReader.ts"
import { fromCall } from "../runtime/AbortableCall.ts"
import { CabinetTimeZone } from "./CabinetTimeZone.ts"
import type { Selection } from "./Selection.ts"
import type { SelectionError } from "./SelectionError.ts"
import { noSuchTable, selectionError, selectionParams, shown } from "./SelectionParams.ts"
import { type SelectionPlan, selectionPlan } from "./SelectionPlan.ts"
import { selectionSql } from "./SelectionSql.ts"
import type { RowsRequest } from "./SelectRows.ts"

type Returns = Effect.Effect<string | null, SelectionError | ReadError | StoreUnavailable>

export class FindPlace extends Context.Service<
  FindPlace,
  {
    /**
     * The cursor of the page that begins with the first row that has this value, or the next one in the order; null if
     * that is the first page. Ignores a cursor in the request.
     */
    readonly cursorAt: (request: RowsRequest, value: string) => Returns
  }
>()("@data-cabinet/core/selection/FindPlace") {
  static readonly layer = Layer.effect(
    FindPlace,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const reader = yield* RowReader
      const timeZone = yield* CabinetTimeZone
      const keys = yield* CursorKeys
      return FindPlace.of({
        cursorAt: Effect.fnUntraced(function* ({ schema, name, params }, value) {
          const selection = yield* Effect.fromResult(selectionParams(params.filter(([key]) => key !== "cursor")))
          const table = yield* catalog.find(schema, name)
          if (Option.isNone(table)) return yield* noSuchTable(schema, name)
          const key = yield* keys.key
          const plan = yield* Effect.fromResult(selectionPlan(selection, table.value, key))
          const column = yield* sortColumn(plan)
          const backwards = yield* Effect.fromResult(
            selectionPlan(backwardsFrom(selection, plan, column, value), table.value, key),
          )
          const query = selectionSql(backwards, timeZone)
          const found = yield* Effect.catchTags(
            fromCall((call) => reader.read(query, call)),
            {
              RefusedValue: ({ message }) =>
                Effect.fail(
                  selectionError("bad_fv", "value", `The value does not fit column ${shown(column)}: ${message}.`),
                ),
              StaleObject: () => Effect.fail(changing),
            },
          )
          if (found.items.length === 0) return null
          const cursor = encodeCursor(plan.walk, found.positionOf(0))
          if (cursor.length <= MAX_CURSOR_LENGTH) return cursor
          return yield* selectionError(
            "bad_selection",
            "sort",
            "The value of the row before that position is too long for a cursor.",
          )
        }),
      })
    }),
  )
}

const changing = new ReadError({
  code: "table_busy",
  message: "The table was changed in the meantime; try again.",
  retryAfter: 1,
})

const sortColumn = ({ sort, thenBy, ties, table }: SelectionPlan): Effect.Effect<string, SelectionError> => {
  const column = thenBy.length > 0 ? undefined : (sort ?? (ties.length === 1 ? ties[0] : undefined))
  if (table.identity !== "text" && column !== undefined) return Effect.succeed(column.name)
  const message =
    table.identity === "text"
      ? "The rows of a view have no fixed position to go to: filter by the value instead."
      : "The rows are not sorted by a single column: sort by one first."
  return Effect.fail(selectionError("bad_selection", "sort", message))
}

/** The one row before the value, in the opposite order. A row without a value is last in either, and never before one. */
const backwardsFrom = (
  selection: Selection,
  { direction }: SelectionPlan,
  column: string,
  value: string,
): Selection => ({
  ...selection,
  filters: [...selection.filters, { column, condition: direction === "asc" ? "lt" : "gt", value }],
  direction: direction === "asc" ? "desc" : "asc",
  limit: 1,
  cursor: null,
})

/**
 * Facts about a selection, found within a second: how many rows it has, and the most frequent values of a column in its
 * first ten thousand rows. Reads as the rows themselves are read, with the same refusals, so nothing is shown that a
 * page would not show.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { Catalog } from "../row/Catalog.ts"
import type { ReadError } from "../row/ReadError.ts"
import { findListed } from "../row/Tables.ts"
import type { SelectionError } from "./SelectionError.ts"
import { walkSample } from "./SampleWalk.ts"
import { noSuchTable } from "./SelectionParams.ts"
import { unknownColumn } from "./SelectionPlan.ts"
import { type RowsRequest, SelectRows } from "./SelectRows.ts"

/** The most values listed. */
const TOP_VALUES = 20
/** Longer values are counted together. */
const MAX_VALUE_CHARS = 1_000

/** The number of rows of a selection. */
export interface RowCount {
  readonly count: number
  /** True if there may be more: the count reached its limit, or ran out of time. */
  readonly atLeast: boolean
}

/** The count's JSON and its description. */
export const rowCountShape = Shape.named(
  "RowCount",
  Shape.object<RowCount>("How many rows a selection has.", {
    count: Shape.whole("How many rows."),
    atLeast: Shape.flag("Whether there may be more: counting ends at 10,000, or after a second."),
  }),
)

/** The most frequent values of a column. */
export interface Facets {
  readonly column: string
  /** Most frequent first; each value is JSON text as in the rows. */
  readonly values: ReadonlyArray<{ readonly value: string; readonly count: number }>
  /** The number of rows with other values. */
  readonly others: number
  /** The number of rows examined. */
  readonly rows: number
  /** False if they are not all rows of the selection. */
  readonly exact: boolean
}

/** As JSON text; each value keeps its digits. */
export const facetsText = ({ column, values, others, rows, exact }: Facets): string => {
  const data = values.map(({ value, count }) => `{"value":${value},"count":${count}}`)
  return `{"column":${JSON.stringify(column)},"data":[${data.join(",")}],"others":${others},"rows":${rows},"exact":${exact}}`
}

type Returns<A> = Effect.Effect<A, SelectionError | ReadError | StoreUnavailable>

export class SampleRows extends Context.Service<
  SampleRows,
  {
    readonly count: (request: RowsRequest) => Returns<RowCount>
    readonly facets: (request: RowsRequest, column: string) => Returns<Facets>
  }
>()("@data-cabinet/core/selection/SampleRows") {
  static readonly layer = Layer.effect(
    SampleRows,
    Effect.gen(function* () {
      const rows = yield* SelectRows
      const catalog = yield* Catalog

      const columnsOf = Effect.fnUntraced(function* (request: RowsRequest) {
        const found = yield* findListed(catalog, request.scope ?? null, request)
        return Option.isSome(found) ? found.value.detail.columns : yield* noSuchTable(request.schema, request.name)
      })

      /** Passes on the values of one column, and returns whether they are all. */
      const walk = (request: RowsRequest, column: string, page: (items: ReadonlyArray<string>) => void) =>
        walkSample(rows, {
          request,
          columns: [column],
          onPage: (items) => {
            page(items.texts())
            return true
          },
        })

      return SampleRows.of({
        count: Effect.fnUntraced(function* (request) {
          const [column] = yield* columnsOf(request)
          if (column === undefined) return { count: 0, atLeast: true }
          let count = 0
          const all = yield* walk(request, column.name, (items) => {
            count += items.length
          })
          return { count, atLeast: !all }
        }),
        facets: Effect.fnUntraced(function* (request, column) {
          const columns = yield* columnsOf(request)
          if (!columns.some(({ name }) => name === column)) return yield* unknownColumn("column", column, columns)
          // A row of one column is `{"name":value}`.
          const head = JSON.stringify(column).length + 2
          const counts = new Map<string, number>()
          let count = 0
          const exact = yield* walk(request, column, (items) => {
            count += items.length
            for (const item of items) {
              const value = item.slice(head, -1)
              if (value.length <= MAX_VALUE_CHARS) counts.set(value, (counts.get(value) ?? 0) + 1)
            }
          })
          const values = [...counts]
            .sort(([, one], [, other]) => other - one)
            .slice(0, TOP_VALUES)
            .map(([value, times]) => ({ value, count: times }))
          const listed = values.reduce((sum, one) => sum + one.count, 0)
          return { column, values, others: count - listed, rows: count, exact }
        }),
      })
    }),
  )
}

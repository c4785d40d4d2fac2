/**
 * A selection in numbers, for those who would otherwise read all its rows: how many there are, and of one column the sum,
 * average, least and greatest value, and the most frequent values.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { Catalog } from "../row/Catalog.ts"
import { ReadError } from "../row/ReadError.ts"
import { findListed } from "../row/Tables.ts"
import { type ColumnSum, ColumnSums, hasSums } from "./ColumnSums.ts"
import { facetsText, SampleRows } from "./SampleRows.ts"
import type { SelectionError } from "./SelectionError.ts"
import { noSuchTable } from "./SelectionParams.ts"
import { unknownColumn } from "./SelectionPlan.ts"
import type { RowsRequest } from "./SelectRows.ts"

type Returns<A> = Effect.Effect<A, SelectionError | ReadError | StoreUnavailable>

export class SummarizeRows extends Context.Service<
  SummarizeRows,
  {
    /** The summary as JSON text, with every digit. The number of rows is exact. */
    readonly summary: (request: RowsRequest, column?: string) => Returns<string>
  }
>()("@data-cabinet/core/selection/SummarizeRows") {
  static readonly layer = Layer.effect(
    SummarizeRows,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const sums = yield* ColumnSums
      const sample = yield* SampleRows

      return SummarizeRows.of({
        summary: Effect.fnUntraced(function* (request, name) {
          const found = yield* findListed(catalog, request.scope ?? null, request)
          if (Option.isNone(found)) return yield* noSuchTable(request.schema, request.name)
          const table = found.value
          const column = name === undefined ? undefined : table.columns.find((one) => one.name === name)
          if (name !== undefined && column === undefined) return yield* unknownColumn("column", name, table.columns)
          const summed = column !== undefined && hasSums(column) ? column : undefined
          const sum = yield* sums.sum(table, request.params, summed)
          if (Option.isNone(sum)) return yield* tooSlow
          if (column === undefined) return `{"rows":${sum.value.rows}}`
          const frequent = facetsText(yield* sample.facets(request, column.name))
          const numbers = summed === undefined ? "" : `${numbersText(sum.value)},`
          return `{"rows":${sum.value.rows},"column":${JSON.stringify(column.name)},${numbers}"values":${frequent}}`
        }),
      })
    }),
  )
}

const tooSlow = new ReadError({
  code: "query_timeout",
  message: "The rows could not be counted in time: narrow the selection by filters or a period.",
  retryAfter: 5,
})

const NUMBER = /^-?\d+(?:\.\d+)?(?:e[+-]?\d+)?$/i

const valueText = (value: string | null): string =>
  value !== null && NUMBER.test(value) ? value : JSON.stringify(value)

const numbersText = ({ filled, sum, average, least, greatest }: ColumnSum): string =>
  [
    `"filled":${filled}`,
    `"sum":${valueText(sum)}`,
    `"average":${valueText(average)}`,
    `"least":${valueText(least)}`,
    `"greatest":${valueText(greatest)}`,
  ].join(",")

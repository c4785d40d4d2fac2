/**
 * Exact numbers about a selection, computed by the database when a person asks for them: how many rows it has, and the sum,
 * average, least and greatest value of a column. They are read as a page is, with its refusals and its time limit. There is no
 * sample: a selection that takes longer has none of these numbers.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { type ReadableColumn, type ReadableTable, textColumn } from "../row/Catalog.ts"
import { cellTokens, shownText } from "../row/CellTokens.ts"
import { ReadError } from "../row/ReadError.ts"
import { type PageQuery, RowReader, shownColumn } from "../row/RowReader.ts"
import { quoteQualified } from "../row/SqlName.ts"
import { call, castTo, operate } from "../row/SystemSql.ts"
import { fromCall } from "../runtime/AbortableCall.ts"
import { CabinetTimeZone } from "./CabinetTimeZone.ts"
import { columnSql, conditionsSql, OBJECT } from "./ConditionSql.ts"
import type { SelectionError } from "./SelectionError.ts"
import { refusedParam } from "./RefusedParam.ts"
import { type ParamPairs, selectionParams } from "./SelectionParams.ts"
import { type SelectionPlan, selectionPlan } from "./SelectionPlan.ts"
import { selectionSql, whereSql } from "./SelectionSql.ts"
import { SqlParameters } from "./SqlParameters.ts"

/** The values are texts with all digits. */
export interface ColumnSum {
  readonly rows: number
  /** The rows that have a value. */
  readonly filled: number
  /** Null without values, and for a column of times. */
  readonly sum: string | null
  /** The quotient of both: from 1 on, with at most four digits after the point. */
  readonly average: string | null
  readonly least: string | null
  readonly greatest: string | null
}

const NUMBERS: ReadonlySet<string> = new Set(
  ["int2", "int4", "int8", "numeric", "float4", "float8"].map((name) => `"pg_catalog"."${name}"`),
)
const TIMES: ReadonlySet<string> = new Set(["date", "timestamp", "timestamptz"])

const isNumber = ({ type }: ReadableColumn): boolean => NUMBERS.has(type.sql)

/** Whether a column has a sum, or at least a least and a greatest value. */
export const hasSums = (column: ReadableColumn): boolean =>
  column.type.isDomain !== true && (isNumber(column) || TIMES.has(column.type.kind))

/** A float is added by the digits that are shown: sums of floats depend on the order of their rows. */
const numberSql = (column: ReadableColumn): string =>
  castTo(column.type.sql.includes("float") ? castTo(columnSql(column), "text") : columnSql(column), "numeric")

const averageSql = (number: string): string => {
  const average = call("avg", number)
  const digits = `CASE WHEN ${operate(call("abs", average), "<", "1")} THEN 20 ELSE 4 END`
  return call("trim_scale", call("round", average, digits))
}

const sumsQuery = (plan: SelectionPlan, column: ReadableColumn | undefined, zone: string): PageQuery => {
  const parameters = new SqlParameters()
  const base = selectionSql(plan, zone)
  const { schema, name } = plan.table.detail
  const texts = [castTo("pg_catalog.count(*)", "text")]
  const values: Array<ReadableColumn> = []
  if (column !== undefined) {
    const number = numberSql(column)
    texts.push(castTo(call("count", columnSql(column)), "text"))
    if (isNumber(column)) texts.push(castTo(call("sum", number), "text"), castTo(averageSql(number), "text"))
    else texts.push("NULL::pg_catalog.text", "NULL::pg_catalog.text")
    values.push(column, column)
  }
  const bounds = values.map((one, at) => call(at === 0 ? "min" : "max", columnSql(one)))
  const list = [...texts, ...bounds].map((sql, at) => `${sql} AS ${shownColumn(at)}`).join(", ")
  const where = whereSql(conditionsSql(plan, zone, parameters))
  return {
    ...base,
    compared: { filters: [], period: null, sort: null },
    ...parameters.statement(`SELECT ${list} FROM ${quoteQualified(schema, name)} AS ${OBJECT}${where}`),
    shown: [...texts.map((_, at) => textColumn(`t${at}`)), ...values.map((one, at) => ({ ...one, name: `v${at}` }))],
    position: [],
    limit: 1,
  }
}

const sumOf = (row: string): ColumnSum => {
  const [rows = "0", filled = "0", ...others] = cellTokens(row)
  const [sum = null, average = null, least = null, greatest = null] = others.map((token) =>
    token === "null" ? null : shownText(token),
  )
  return { rows: Number(shownText(rows)), filled: Number(shownText(filled)), sum, average, least, greatest }
}

const changing = new ReadError({
  code: "table_busy",
  message: "The table was changed in the meantime; try again.",
  retryAfter: 1,
})

export class ColumnSums extends Context.Service<
  ColumnSums,
  {
    /** Of a column that has sums, or of the rows alone. None if it takes too long. An interrupted call ends its read. */
    readonly sum: (
      table: ReadableTable,
      params: ParamPairs,
      column?: ReadableColumn,
    ) => Effect.Effect<Option.Option<ColumnSum>, SelectionError | ReadError | StoreUnavailable>
  }
>()("@data-cabinet/core/selection/ColumnSums") {
  static readonly layer = Layer.effect(
    ColumnSums,
    Effect.gen(function* () {
      const reader = yield* RowReader
      const zone = yield* CabinetTimeZone
      const keys = yield* CursorKeys
      return ColumnSums.of({
        sum: Effect.fnUntraced(function* (table, params, column) {
          const shows = column === undefined ? [] : [["col", column.name] as const]
          const selection = yield* Effect.fromResult(selectionParams([...params, ...shows]))
          const plan = yield* Effect.fromResult(selectionPlan(selection, table, yield* keys.key))
          const query = sumsQuery(plan, column, zone)
          return yield* fromCall((one) => reader.read(query, one)).pipe(
            Effect.map(({ items }) => Option.some(sumOf(items.texts()[0] ?? "{}"))),
            Effect.catchTags({
              RefusedValue: (refused) => Effect.fail(refusedParam(plan, query, refused)),
              StaleObject: () => Effect.fail(changing),
              ReadError: (error) => (error.code === "query_timeout" ? Effect.succeedNone : Effect.fail(error)),
            }),
          )
        }),
      })
    }),
  )
}

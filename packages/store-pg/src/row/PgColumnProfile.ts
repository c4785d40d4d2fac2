/**
 * Reads a table's statistics through the view `pg_stats`, in the reader's sessions and within their limits: PostgreSQL shows there
 * only columns that the reader may select. No function of a customer runs, because the table itself is not read.
 */
import { ColumnProfile, type ColumnStatistics, type TableStatistics } from "@data-cabinet/core/row/ColumnProfile"
import { type ReadableColumn, type ReadableTable, textColumn } from "@data-cabinet/core/row/Catalog"
import { type PageQuery, RowReader, shownColumn } from "@data-cabinet/core/row/RowReader"
import { call, castTo, operate } from "@data-cabinet/core/row/SystemSql"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SqlParameters } from "@data-cabinet/core/selection/SqlParameters"
import { Effect, Layer, Option } from "effect"

/** Types whose values are shown; values of the others, such as documents and arrays, are not even read. */
const SHOWN: ReadonlySet<string> = new Set(["number", "text", "boolean", "date", "timestamp", "timestamptz", "other"])

/** A row of the statement, with everything as text. */
interface StatisticsRow {
  readonly name: string
  readonly nulls: string
  readonly distinct: string
  readonly values: string | null
  readonly shares: string | null
  readonly bounds: string | null
  readonly at: string | null
}

const COLUMNS = ["name", "nulls", "distinct", "values", "shares", "bounds", "at"].map(textColumn)

const arrayJson = (array: string): string => castTo(call("array_to_json", array), "text")

const LAST_ANALYZED = `GREATEST(${call("pg_stat_get_last_analyze_time", `"c"."oid"`)}, ${call("pg_stat_get_last_autoanalyze_time", `"c"."oid"`)})`

const ANALYZED = call("to_char", call("timezone", "'UTC'", LAST_ANALYZED), `'YYYY-MM-DD"T"HH24:MI:SS"Z"'`)

const statisticsQuery = (table: ReadableTable, columns: ReadonlyArray<ReadableColumn>): PageQuery => {
  const parameters = new SqlParameters()
  const { schema, name } = table.detail
  const nameOf = (text: string) => parameters.add(text, "pg_catalog.name")
  const isOneOf = (names: ReadonlyArray<string>) =>
    operate(`"s"."attname"`, "=", `ANY (ARRAY[${names.map(nameOf).join(", ")}]::pg_catalog.name[])`)
  const shown = columns.filter(({ type }) => SHOWN.has(type.kind) && type.runsNoUserCode)
  const isShown = isOneOf(shown.map((one) => one.name))
  const values = (array: string) =>
    `CASE WHEN ${isShown} THEN ${arrayJson(`"s"."${array}"::pg_catalog.text::pg_catalog.text[]`)} END`
  const list = [
    castTo(`"s"."attname"`, "text"),
    castTo(`"s"."null_frac"`, "text"),
    castTo(`"s"."n_distinct"`, "text"),
    values("most_common_vals"),
    arrayJson(`"s"."most_common_freqs"`),
    values("histogram_bounds"),
    ANALYZED,
  ]
  // Statistics of all its children come first, if there are any: the table's rows include theirs.
  const text =
    `SELECT ${list.map((sql, index) => `${sql} AS ${shownColumn(index)}`).join(", ")} FROM pg_catalog.pg_stats AS "s"` +
    ` JOIN pg_catalog.pg_class AS "c" ON ${operate(`"c"."oid"`, "=", parameters.add(String(table.oid), "pg_catalog.oid"))}` +
    ` WHERE ${operate(`"s"."schemaname"`, "=", nameOf(schema))} AND ${operate(`"s"."tablename"`, "=", nameOf(name))}` +
    ` AND ${isOneOf(columns.map((one) => one.name))} ORDER BY "s"."inherited" DESC`
  return {
    table,
    compared: { filters: [], period: null, sort: null },
    ...parameters.statement(text),
    shown: COLUMNS,
    position: [],
    limit: 2 * columns.length,
    runsNoUserCode: true,
    replan: false,
  }
}

const numbers = (json: string | null): ReadonlyArray<number> =>
  json === null ? [] : (JSON.parse(json) as ReadonlyArray<number>)

const texts = (json: string | null): ReadonlyArray<string> =>
  json === null ? [] : (JSON.parse(json) as ReadonlyArray<string>)

const statisticsOf = (row: StatisticsRow): ColumnStatistics => {
  const shares = numbers(row.shares)
  return {
    column: row.name,
    nulls: Number(row.nulls),
    distinct: Number(row.distinct),
    common: texts(row.values).map((value, at) => ({ value, share: shares[at] ?? 0 })),
    bounds: texts(row.bounds),
  }
}

const tableStatistics = (rows: ReadonlyArray<StatisticsRow>): Option.Option<TableStatistics> => {
  const [first] = rows
  if (first === undefined) return Option.none()
  const columns = new Map<string, ColumnStatistics>()
  for (const row of rows) if (!columns.has(row.name)) columns.set(row.name, statisticsOf(row))
  return Option.some({ at: first.at, columns: [...columns.values()] })
}

/** Needs `RowReader`. */
export const layer = Layer.effect(
  ColumnProfile,
  Effect.gen(function* () {
    const reader = yield* RowReader
    return ColumnProfile.of({
      statistics: Effect.fnUntraced(function* (table, names) {
        const columns = table.columns.filter(({ name }) => names.includes(name))
        const query = statisticsQuery(table, columns)
        return yield* fromCall((call_) => reader.read(query, call_)).pipe(
          Effect.map(({ items }) => tableStatistics(items.texts().map((item) => JSON.parse(item) as StatisticsRow))),
          Effect.catchTags({
            StaleObject: () => Effect.succeedNone,
            RefusedValue: () => Effect.succeedNone,
          }),
        )
      }),
    })
  }),
)

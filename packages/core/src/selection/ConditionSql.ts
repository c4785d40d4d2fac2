/** Generates the SQL conditions of a selection over the object's alias. */
import type { ReadableColumn } from "../row/Catalog.ts"
import type { ColumnType, TypeOperators } from "../row/ColumnType.ts"
import { shownText } from "../row/RowJson.ts"
import { quoteName } from "../row/SqlName.ts"
import { call, castTo, operate } from "../row/SystemSql.ts"
import { foldedText } from "./FoldedText.ts"
import type { FilterCondition } from "./Selection.ts"
import { filterGroups } from "../row/RowReader.ts"
import { rowText, SEARCH_SEPARATOR, searchFunction } from "../row/SearchSql.ts"
import type { PlannedFilter } from "./PlannedFilter.ts"
import type { PlannedPeriod, SelectionPlan } from "./SelectionPlan.ts"
import { type SqlParameters, TEXT } from "./SqlParameters.ts"

/** The alias of the object that is read; columns are always qualified with it. */
export const OBJECT = `"o"`

/** A column, qualified with the object's alias. */
export const columnSql = (column: ReadableColumn): string => `${OBJECT}.${quoteName(column.name)}`

/** An operator qualified with its schema, so that no operator that a customer created can be chosen instead. */
export const operatorSql = (
  operators: TypeOperators,
  which: keyof Omit<TypeOperators, "schema" | "ofArrays">,
): string => `OPERATOR(${quoteName(operators.schema)}.${operators[which]})`

/** An expression with its own order. */
export interface OrderedTerm {
  readonly sql: string
  readonly type: Pick<ColumnType, "sql" | "runsNoUserCode" | "isDomain">
  readonly operators: TypeOperators
}

/**
 * Both sides of a comparison of a term with a text, for its operators. A domain is compared as its base type, because
 * polymorphic operators, such as those of enums, do not accept domains.
 */
export const comparedSql = (term: OrderedTerm, text: string, parameters: SqlParameters) => {
  const value = parameters.addLike(text, term)
  const of = term.type.isDomain === true ? `CASE WHEN false THEN ${value} ELSE ${term.sql} END` : term.sql
  if (term.operators.ofArrays !== true) return { of, value }
  // NULL must remain NULL: an array with a NULL element equals, and is greater than, other arrays.
  return {
    of: `CASE WHEN ${term.sql} IS NOT DISTINCT FROM NULL THEN NULL ELSE ARRAY[${of}] END`,
    value: `ARRAY[${value}]`,
  }
}

/** Every condition must hold. `zone` is the cabinet's time zone. */
export const conditionsSql = (plan: SelectionPlan, zone: string, parameters: SqlParameters): ReadonlyArray<string> => [
  ...filterGroups(plan.filters).map((group) => {
    const alternatives = group.map((filter) => filterSql(filter, plan.table.foldCollation, parameters))
    return alternatives.length === 1 ? alternatives.join("") : `(${alternatives.join(" OR ")})`
  }),
  ...(plan.period === null ? [] : periodSql(plan.period, zone, parameters)),
  ...(plan.search === "" ? [] : [searchSql(plan, parameters)]),
]

const patternOf = (sought: string, parameters: SqlParameters): string =>
  parameters.add(`%${sought.replaceAll(/[\\%_]/g, "\\$&")}%`, TEXT)

/** A subquery folds the pattern once; a plan that is kept for all patterns would fold it for each row. */
const containsSql = (column: ReadableColumn, sought: string, collation: string, parameters: SqlParameters): string => {
  const text = shownText(column.type, columnSql(column))
  const pattern = foldedText(patternOf(sought, parameters), collation, null)
  return operate(foldedText(text, collation, column.type), "~~", pattern)
}

/** The text by which a search index preselects rows before each column is searched. */
const indexedText = ({ table, search }: SelectionPlan): string | undefined => {
  if (!table.searchIndexed || search === "" || search.includes(SEARCH_SEPARATOR)) return undefined
  const { sql, unfit } = rowText(table.columns, table.foldCollation, columnSql)
  return unfit.length === 0 ? sql : undefined
}

/** True if the search uses the object's search index. */
export const searchesIndex = (plan: SelectionPlan): boolean => indexedText(plan) !== undefined

const searchSql = (plan: SelectionPlan, parameters: SqlParameters): string => {
  const { table, search } = plan
  const any = table.columns.map((column) => containsSql(column, search, table.foldCollation, parameters))
  if (any.length === 0) return "false"
  const columns = `(${any.join(" OR ")})`
  const whole = indexedText(plan)
  if (whole === undefined) return columns
  const pattern = `${searchFunction(table.foldCollation).sql}(ARRAY[${patternOf(search, parameters)}])`
  return `${operate(whole, "~~", pattern)} AND ${columns}`
}

const COMPARISON = { eq: "eq", ne: "eq", gt: "gt", ge: "ge", lt: "lt", le: "le" } as const

const isComparison = (condition: FilterCondition): condition is keyof typeof COMPARISON => condition in COMPARISON

const filterSql = (filter: PlannedFilter, collation: string, parameters: SqlParameters): string => {
  const { column, condition, value } = filter
  const of = columnSql(column)
  if (condition === "empty") return emptySql(column)
  if (condition === "notempty") return `NOT ${emptySql(column)}`
  if (condition === "contains") return containsSql(column, value, collation, parameters)
  const { operators } = column.type
  if (operators === null || !isComparison(condition))
    throw new Error(`Not planned: ${condition} of ${column.type.name}`)
  const compared = comparedSql({ sql: of, type: column.type, operators }, filter.text, parameters)
  const holds = `${compared.of} ${operatorSql(operators, COMPARISON[condition])} ${compared.value}`
  // NULL is unequal to every value.
  return condition === "ne" ? `(${holds}) IS NOT TRUE` : holds
}

/** Never NULL itself, so that NOT can negate it. */
const emptySql = (column: ReadableColumn): string => {
  const of = columnSql(column)
  const isNull = `${of} IS NOT DISTINCT FROM NULL`
  switch (column.type.kind) {
    case "text":
      return `(${isNull} OR ${operate(shownText(column.type, of), "=", "''")})`
    case "jsonb":
      return `(${isNull} OR ${operate(castTo(of, "jsonb"), "=", `ANY ('{"null","{}","[]","\\"\\""}'::pg_catalog.jsonb[])`)})`
    case "json":
      return `(${isNull} OR ${operate(castTo(of, "text"), "~", `'^\\s*(null|\\{\\s*\\}|\\[\\s*\\]|"")\\s*$'`)})`
    default:
      return `(${isNull})`
  }
}

/**
 * Midnight is the cabinet's: a timestamp with time zone is compared in the cabinet's zone, a date or a timestamp
 * without time zone unchanged.
 */
const periodSql = ({ column, from, to }: PlannedPeriod, zone: string, parameters: SqlParameters): Array<string> => {
  const of = columnSql(column)
  const day = (text: string) => parameters.add(text, "pg_catalog.date")
  if (column.type.kind === "date") {
    return [
      ...(from === null ? [] : [operate(of, ">=", day(from))]),
      ...(to === null ? [] : [operate(of, "<=", day(to))]),
    ]
  }
  const midnight = (date: string) =>
    column.type.kind === "timestamp"
      ? castTo(date, "timestamp")
      : call("timezone", parameters.add(zone, TEXT), castTo(date, "timestamp"))
  return [
    ...(from === null ? [] : [operate(of, ">=", midnight(day(from)))]),
    ...(to === null ? [] : [operate(of, "<", midnight(operate(day(to), "+", "1")))]),
  ]
}

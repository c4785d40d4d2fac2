/**
 * Compiles a plan into one query: the rows of a page and one more, in order, with the columns that they show and those that
 * their positions are read from. Names are quoted by `quoteName`, values are parameters; the page size is a number that was
 * parsed as one. However deep the walk, the query has no OFFSET except over rows that are equal to each other.
 */
import type { ReadableColumn } from "../row/Catalog.ts"
import { type ColumnType, SYSTEM_OPERATORS } from "../row/ColumnType.ts"
import { type PageQuery, type PositionColumn, shownColumn } from "../row/RowReader.ts"
import { quoteQualified } from "../row/SqlName.ts"
import { BYTEWISE, call, castTo, operate } from "../row/SystemSql.ts"
import { columnSql, conditionsSql, OBJECT, type OrderedTerm, searchesIndex } from "./ConditionSql.ts"
import { type Branch, branchesAfter, type Order } from "./OrderSql.ts"
import type { SelectionPlan, Showing } from "./SelectionPlan.ts"
import { SqlParameters, TEXT } from "./SqlParameters.ts"

/** How many blocks of a file are sorted at once when rows are read by physical location. */
const BLOCKS_PER_SORT = 16

/** How much of a row's text is compared directly; the rest is compared by its hash. */
const TEXT_PREFIX_LENGTH = 200

export const selectionSql = (plan: SelectionPlan, zone: string): PageQuery => {
  const parameters = new SqlParameters()
  const conditions = conditionsSql(plan, zone, parameters)
  const order = orderOf(plan)
  const byBlocks = plan.table.identity === "place" && order.sorts.length === 0 && !searchesIndex(plan)
  const shown = shownSql(plan)
  const { position, selected } = positionSql(order, shown)
  const list = [...(shown.selected === "" ? [] : [shown.selected]), ...selected].join(", ")
  return {
    table: plan.table,
    compared: plan,
    ...parameters.statement((byBlocks ? blockPage : orderedPage)(plan, order, list, conditions, parameters)),
    shown: plan.showing.shown,
    position,
    limit: plan.limit,
    runsNoUserCode:
      plan.table.runsNoUserCode && shown.runsNoUserCode && besides(plan).every(({ type }) => type.runsNoUserCode),
    replan: searchesIndex(plan),
  }
}

/** The rows of a page alone, with their columns' own names, and with values as `parameters` writes them. */
export const statementText = (plan: SelectionPlan, zone: string, parameters: SqlParameters): string => {
  const conditions = conditionsSql(plan, zone, parameters)
  const list = plan.showing.shown.map(columnSql).join(", ")
  return orderedPage({ ...plan, limit: plan.limit - 1 }, orderOf(plan), list, conditions, parameters)
}

/** The columns whose values the statement reads in addition to those that it shows. */
const besides = ({
  table,
  search,
  filters,
  period,
  sort,
  thenBy,
  ties,
}: SelectionPlan): ReadonlyArray<ReadableColumn> => {
  if (search !== "" || table.identity === "text") return table.columns
  const named = [period?.column, sort].filter((column) => column !== undefined && column !== null)
  return [...[...filters, ...thenBy].map(({ column }) => column), ...named, ...ties]
}

/** The shown columns as SQL. */
interface ShownSql {
  /** Each column, qualified with the object's alias. */
  readonly columns: ReadonlyArray<string>
  /** The same with their names, as a select list. */
  readonly selected: string
  /** Whether all types are PostgreSQL's own. */
  readonly runsNoUserCode: boolean
}

/** A table's default selection is one object as long as the table is unchanged, so its SQL is generated only once. */
const written = new WeakMap<Showing, ShownSql>()

const shownSql = ({ showing }: SelectionPlan): ShownSql => {
  const known = written.get(showing)
  if (known !== undefined) return known
  const columns = showing.shown.map(columnSql)
  const sql = {
    columns,
    selected: columns.map((column, index) => `${column} AS ${shownColumn(index)}`).join(", "),
    runsNoUserCode: showing.shown.every(({ type }) => type.runsNoUserCode),
  }
  written.set(showing, sql)
  return sql
}

/** The terms of the order as columns of the query; terms that are not shown are selected in addition. */
const positionSql = (order: Order, { columns }: ShownSql) => {
  const selected: Array<string> = []
  const position = termsOf(order).map(({ sql, type }): PositionColumn => {
    const shown = columns.indexOf(sql)
    if (shown >= 0) return { name: shownColumn(shown), shown, type }
    const name = `"p${selected.length}"`
    selected.push(`${sql} AS ${name}`)
    return { name, shown: null, type }
  })
  return { position, selected }
}

/** How many rows equal to the last one were already shown; only in the position of a walk that counts equal rows. */
export const equalsShown = (plan: SelectionPlan): number =>
  plan.table.identity === "text" && plan.after !== null ? Number(plan.after.at(-1)) : 0

const orderOf = (plan: SelectionPlan): Order => {
  const { sort, direction, thenBy, table } = plan
  const sorts = sort === null ? [] : [{ column: sort, direction }, ...thenBy]
  return {
    sorts: sorts.map((one) => ({ ...columnTerm(one.column), nullable: !one.column.notNull, direction: one.direction })),
    ties: table.identity === "key" ? plan.ties.map(columnTerm) : table.identity === "place" ? PLACE : TEXTS,
    direction: thenBy.at(-1)?.direction ?? direction,
    countsEquals: table.identity === "text",
  }
}

const columnTerm = (column: ReadableColumn): OrderedTerm => ({
  sql: columnSql(column),
  type: column.type,
  operators: operatorsOf(column.type),
})

const operatorsOf = (type: ColumnType) => {
  if (type.operators === null) throw new Error(`Not planned: an order of ${type.name}`)
  return type.operators
}

const OID = `"pg_catalog"."oid"`

/** A row's physical location: the file, then the place in it. */
const PLACE: ReadonlyArray<OrderedTerm> = [
  { sql: `${OBJECT}."tableoid"`, type: { sql: OID, runsNoUserCode: true }, operators: SYSTEM_OPERATORS },
  { sql: `${OBJECT}."ctid"`, type: { sql: `"pg_catalog"."tid"`, runsNoUserCode: true }, operators: SYSTEM_OPERATORS },
]

/** A row's content: the beginning of its text, then the hash of the whole text. */
const TEXTS: ReadonlyArray<OrderedTerm> = [
  { sql: `("w"."text" ${BYTEWISE})`, type: { sql: TEXT, runsNoUserCode: true }, operators: SYSTEM_OPERATORS },
  { sql: `"w"."hash"`, type: { sql: "pg_catalog.bytea", runsNoUserCode: true }, operators: SYSTEM_OPERATORS },
]

/** The terms for which a position has a value, one each. */
const termsOf = ({ sorts, ties }: Order): ReadonlyArray<OrderedTerm> => [...sorts, ...ties]

/** All conditions must hold; nothing without any. */
export const whereSql = (conditions: ReadonlyArray<string>): string =>
  conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`

const orderedPage = (
  plan: SelectionPlan,
  order: Order,
  list: string,
  conditions: ReadonlyArray<string>,
  parameters: SqlParameters,
): string => {
  const skipped = equalsShown(plan)
  const branches = branchesAfter(order, plan.after, parameters)
  const from = quoteQualified(plan.table.detail.schema, plan.table.detail.name)
  const select = ({ where, orderBy }: Branch) =>
    `SELECT ${list} FROM ${from} AS ${OBJECT}${order.countsEquals ? rowTextSql(plan) : ""}` +
    `${whereSql([...conditions, ...where])} ORDER BY ${orderBy} LIMIT ${plan.limit + 1 + skipped}`
  const offset = skipped === 0 ? "" : ` OFFSET ${skipped}`
  return branches.length === 1
    ? branches.map(select).join("") + offset
    : `${branches.map((branch) => `(${select(branch)})`).join(" UNION ALL ")} LIMIT ${plan.limit + 1}${offset}`
}

/** The text of the whole row, including hidden columns, computed once per row. */
const rowTextSql = (plan: SelectionPlan): string =>
  ` CROSS JOIN LATERAL (SELECT ${call("left", `"x"."text"`, String(TEXT_PREFIX_LENGTH))} AS "text",` +
  ` ${call("sha256", call("convert_to", `"x"."text"`, "'UTF8'"))} AS "hash"` +
  ` FROM (SELECT ${castTo(`ROW(${plan.table.columns.map(columnSql).join(", ")})`, "text")} AS "text" OFFSET 0) AS "x") AS "w"`

/**
 * Reads the files' blocks range by range and sorts each range separately, so that a page reads no further than necessary.
 * The boundaries of the ranges are the same for every page.
 */
const blockPage = (
  plan: SelectionPlan,
  order: Order,
  list: string,
  conditions: ReadonlyArray<string>,
  parameters: SqlParameters,
): string => {
  const { table, after, direction, limit } = plan
  const start = after === null ? null : blockOf(after[1] ?? "")
  const [branch] = branchesAfter(order, after, parameters)
  const object = quoteQualified(table.detail.schema, table.detail.name)
  const size = `coalesce(${call("max", call("pg_relation_size", `"l"."oid"`))}, 0)`
  const last =
    `(SELECT ${operate(size, "/", castTo(call("current_setting", "'block_size'"), "int8"))} FROM (` +
    `WITH RECURSIVE "f"("oid") AS (SELECT ${parameters.add(String(table.oid), OID)} UNION ` +
    `SELECT "i"."inhrelid" FROM "f" JOIN pg_catalog.pg_inherits AS "i" ON ${operate(`"i"."inhparent"`, "=", `"f"."oid"`)}` +
    `) SELECT "oid" FROM "f") AS "l")`
  const begin = start === null ? null : Math.floor(start / BLOCKS_PER_SORT) * BLOCKS_PER_SORT
  const step = String(BLOCKS_PER_SORT)
  const series = (from: string, to: string, by: string) => call("generate_series", castTo(from, "int8"), to, by)
  const ranges =
    direction === "asc"
      ? series(String(begin ?? 0), last, step)
      : series(String(begin ?? operate(operate(last, "/", step), "*", step)), "0", `-${step}`)
  const tid = (block: string) => castTo(call("format", "'(%s,0)'", block), "tid")
  const within = [
    operate(`${OBJECT}."ctid"`, ">=", tid(`"g"."b"`)),
    operate(`${OBJECT}."ctid"`, "<", tid(operate(`"g"."b"`, "+", step))),
    // Only the range in which the last page ended contains rows on both sides of its end.
    ...(branch?.where.map((beyond) => `(${operate(`"g"."b"`, "<>", String(begin))} OR ${beyond})`) ?? []),
  ]
  return (
    `SELECT "t".* FROM ${ranges} AS "g"("b") CROSS JOIN LATERAL (` +
    `SELECT ${list} FROM ${object} AS ${OBJECT}` +
    `${whereSql([...conditions, ...within])} ORDER BY ${branch?.orderBy} LIMIT ${limit + 1}) AS "t" LIMIT ${limit + 1}`
  )
}

/** `(7,3)` → 7. */
const blockOf = (tid: string): number => {
  const block = /^\((\d{1,10}),\d{1,5}\)$/.exec(tid)?.[1]
  if (block === undefined) throw new Error(`Not a place in a file: ${tid}`)
  return Number(block)
}

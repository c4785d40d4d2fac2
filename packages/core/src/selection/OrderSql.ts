/**
 * The total order of a walk, and the rows that come after a place in it. Where no NULL can stand among what is compared,
 * "after" is one row comparison, which an index answers by starting at the place. A nullable sort is walked in two
 * branches, values then NULLs, for neither the NULLS LAST of a descending order nor an OR can be answered so.
 */
import type { ColumnType, TypeOperators } from "../row/ColumnType.ts"
import { operatorSql } from "./ConditionSql.ts"
import type { Direction } from "./Selection.ts"
import type { SqlParameters } from "./SqlParameters.ts"

/** One expression of the order. */
export interface OrderTerm {
  readonly sql: string
  /** Its value in a cursor is cast to it. */
  readonly type: Pick<ColumnType, "sql" | "runsNoUserCode">
  readonly operators: TypeOperators
}

export interface Order {
  /** Before the ties; null where the walk goes by them alone. */
  readonly sort: (OrderTerm & { readonly nullable: boolean }) | null
  /** Never NULL; they tell every row from the others, or with `countsEquals` every kind of row. */
  readonly ties: ReadonlyArray<OrderTerm>
  readonly direction: Direction
  /** Rows equal in all terms are told apart by counting: a page begins at its place, not behind it. */
  readonly countsEquals: boolean
}

/** Rows of one branch stand before all rows of the next. */
export interface Branch {
  readonly where: ReadonlyArray<string>
  readonly orderBy: string
}

/** The branches that follow the place whose values are given; all of them without a place. */
export const branchesAfter = (
  order: Order,
  place: ReadonlyArray<string | null> | null,
  parameters: SqlParameters,
): ReadonlyArray<Branch> => {
  const { sort, ties, direction } = order
  const beyond = (terms: ReadonlyArray<OrderTerm>, values: ReadonlyArray<string | null>): string =>
    comparison(
      terms.map((term, index) => ({ ...term, value: parameters.add(values[index] ?? "", term.type.sql) })),
      direction,
      order.countsEquals,
    )
  if (sort === null) {
    return [{ where: place === null ? [] : [beyond(ties, place)], orderBy: orderBy(ties, direction) }]
  }
  const terms = [sort, ...ties]
  if (!sort.nullable) {
    return [{ where: place === null ? [] : [beyond(terms, place)], orderBy: orderBy(terms, direction) }]
  }
  const inOrder = orderBy(terms, direction)
  const nulls = { where: [`${sort.sql} IS NOT DISTINCT FROM NULL`], orderBy: inOrder }
  if (place === null) {
    // Ascending, NULLs come last by themselves, and one walk along the index does.
    return direction === "asc"
      ? [{ where: [], orderBy: inOrder }]
      : [{ where: [`${sort.sql} IS DISTINCT FROM NULL`], orderBy: inOrder }, nulls]
  }
  if (place[0] === null) return [{ ...nulls, where: [...nulls.where, beyond(ties, place.slice(1))] }]
  return [{ where: [beyond(terms, place)], orderBy: inOrder }, nulls]
}

const orderBy = (terms: ReadonlyArray<OrderTerm>, direction: Direction): string =>
  terms.map(({ sql }) => `${sql} ${direction.toUpperCase()}`).join(", ")

type Compared = OrderTerm & { readonly value: string }

/** `terms` stand after their values in this direction, or with `orEqual` at them. */
const comparison = (terms: ReadonlyArray<Compared>, direction: Direction, orEqual: boolean): string => {
  const strict = direction === "asc" ? "gt" : "lt"
  const loose = direction === "asc" ? "ge" : "le"
  const [first, ...rest] = terms
  if (first === undefined) return "true"
  const which = orEqual ? loose : strict
  const together = terms.every(({ operators }) => sameOperators(operators, first.operators))
  if (rest.length === 0) return `${first.sql} ${operatorSql(first.operators, which)} ${first.value}`
  if (together) {
    const row = (of: "sql" | "value") => `ROW(${terms.map((term) => term[of]).join(", ")})`
    return `${row("sql")} ${operatorSql(first.operators, which)} ${row("value")}`
  }
  // Types that bring operators of their own cannot share a row comparison with others.
  const is = (operator: "lt" | "le" | "eq" | "ge" | "gt") =>
    `${first.sql} ${operatorSql(first.operators, operator)} ${first.value}`
  return `${is(loose)} AND (${is(strict)} OR (${is("eq")} AND ${comparison(rest, direction, orEqual)}))`
}

const sameOperators = (a: TypeOperators, b: TypeOperators): boolean =>
  a.schema === b.schema && a.lt === b.lt && a.le === b.le && a.ge === b.ge && a.gt === b.gt

/**
 * The total order of a walk, and the condition for the rows after a place in it. If no NULL can be among the compared
 * values, "after" is one row comparison, for which an index scan starts at the place. A nullable sort is read in two
 * branches, values and then NULLs, because an index supports neither the NULLS LAST of a descending order nor an OR.
 */
import type { TypeOperators } from "../row/ColumnType.ts"
import { comparedSql, type OrderedTerm, operatorSql } from "./ConditionSql.ts"
import type { Direction } from "./Selection.ts"
import type { SqlParameters } from "./SqlParameters.ts"

/** The total order of a walk. */
export interface Order {
  /** Comes before the ties; null if the ties alone determine the order. */
  readonly sort: (OrderedTerm & { readonly nullable: boolean }) | null
  /** Never NULL; they identify every row, or with `countsEquals` every class of equal rows. */
  readonly ties: ReadonlyArray<OrderedTerm>
  readonly direction: Direction
  /** Rows that are equal in all terms are distinguished by counting: a page begins at its place, not after it. */
  readonly countsEquals: boolean
}

/** All rows of one branch come before all rows of the next. */
export interface Branch {
  readonly where: ReadonlyArray<string>
  readonly orderBy: string
}

/** The branches after the place with the given values; without a place, all branches. */
export const branchesAfter = (
  order: Order,
  place: ReadonlyArray<string | null> | null,
  parameters: SqlParameters,
): ReadonlyArray<Branch> => {
  const { sort, ties, direction } = order
  const beyond = (terms: ReadonlyArray<OrderedTerm>, values: ReadonlyArray<string | null>): string =>
    comparison(
      terms.map((term, index) => ({
        ...comparedSql(term, values[index] ?? "", parameters),
        operators: term.operators,
      })),
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
    // In ascending order NULLs are last by default, and a single index scan suffices.
    return direction === "asc"
      ? [{ where: [], orderBy: inOrder }]
      : [{ where: [`${sort.sql} IS DISTINCT FROM NULL`], orderBy: inOrder }, nulls]
  }
  if (place[0] === null) return [{ ...nulls, where: [...nulls.where, beyond(ties, place.slice(1))] }]
  return [{ where: [beyond(terms, place)], orderBy: inOrder }, nulls]
}

const orderBy = (terms: ReadonlyArray<OrderedTerm>, direction: Direction): string =>
  terms.map(({ sql }) => `${sql} ${direction.toUpperCase()}`).join(", ")

/** Both sides of a term's comparison. */
interface Compared extends ReturnType<typeof comparedSql> {
  readonly operators: TypeOperators
}

/** True for rows whose `terms` come after the given values in this direction, or with `orEqual` are equal to them. */
const comparison = (terms: ReadonlyArray<Compared>, direction: Direction, orEqual: boolean): string => {
  const strict = direction === "asc" ? "gt" : "lt"
  const loose = direction === "asc" ? "ge" : "le"
  const [first, ...rest] = terms
  if (first === undefined) return "true"
  const which = orEqual ? loose : strict
  const together = terms.every(({ operators }) => sameOperators(operators, first.operators))
  if (rest.length === 0) return `${first.of} ${operatorSql(first.operators, which)} ${first.value}`
  if (together) {
    const row = (side: "of" | "value") => `ROW(${terms.map((term) => term[side]).join(", ")})`
    return `${row("of")} ${operatorSql(first.operators, which)} ${row("value")}`
  }
  // Types with operators of their own cannot share a row comparison with others.
  const is = (operator: "lt" | "le" | "eq" | "ge" | "gt") =>
    `${first.of} ${operatorSql(first.operators, operator)} ${first.value}`
  return `${is(loose)} AND (${is(strict)} OR (${is("eq")} AND ${comparison(rest, direction, orEqual)}))`
}

const sameOperators = (a: TypeOperators, b: TypeOperators): boolean =>
  a.schema === b.schema && a.lt === b.lt && a.le === b.le && a.ge === b.ge && a.gt === b.gt

/**
 * The total order of a walk, and the condition for the rows after a place in it. If no NULL can be among the compared
 * values, and all go in one direction, "after" is one row comparison, for which an index scan starts at the place. A
 * nullable first sort is read in two branches, values and then NULLs, because an index supports neither the NULLS LAST of a
 * descending order nor an OR. Further sorts are compared one by one behind the first, whose index still serves the walk.
 *
 * Decision: docs/decisions/0093-selections-with-or-and-several-sorts.md
 */
import type { TypeOperators } from "../row/ColumnType.ts"
import { comparedSql, type OrderedTerm, operatorSql } from "./ConditionSql.ts"
import type { Direction } from "./Selection.ts"
import type { SqlParameters } from "./SqlParameters.ts"

/** A term to sort by. */
export interface SortTerm extends OrderedTerm {
  readonly nullable: boolean
  readonly direction: Direction
}

/** The total order of a walk. */
export interface Order {
  /** Come before the ties; empty if the ties alone determine the order. */
  readonly sorts: ReadonlyArray<SortTerm>
  /** Never NULL; they identify every row, or with `countsEquals` every class of equal rows. */
  readonly ties: ReadonlyArray<OrderedTerm>
  /** The direction of the ties. */
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
  const { sorts, ties, direction } = order
  const [first] = sorts
  const terms = [...sorts, ...ties]
  const isOneWay = sorts.every((sort) => sort.direction === direction)
  if (first === undefined || (isOneWay && sorts.every(({ nullable }) => !nullable))) {
    const where =
      place === null ? [] : [comparison(comparedTerms(terms, place, parameters), direction, order.countsEquals)]
    return [{ where, orderBy: orderBy(terms, direction) }]
  }
  const inOrder = sortedBy(order)
  const after = (from: number) => (place === null ? [] : [afterFrom(order, place, from, parameters)])
  if (!first.nullable) return [{ where: after(0), orderBy: inOrder }]
  const nulls = { where: [`${first.sql} IS NOT DISTINCT FROM NULL`], orderBy: inOrder }
  if (place === null) {
    // In ascending order NULLs are last by default, and a single index scan suffices.
    return first.direction === "asc"
      ? [{ where: [], orderBy: inOrder }]
      : [{ where: [`${first.sql} IS DISTINCT FROM NULL`], orderBy: inOrder }, nulls]
  }
  if (place[0] === null) return [{ ...nulls, where: [...nulls.where, ...after(1)] }]
  return [{ where: after(0), orderBy: inOrder }, nulls]
}

const comparedTerms = (
  terms: ReadonlyArray<OrderedTerm>,
  values: ReadonlyArray<string | null>,
  parameters: SqlParameters,
): ReadonlyArray<Compared> =>
  terms.map((term, index) => ({
    ...comparedSql(term, values[index] ?? "", parameters),
    operators: term.operators,
  }))

/** True for the rows of the branch that come after the place, if they are equal to it in the terms before `from`. */
const afterFrom = (
  order: Order,
  place: ReadonlyArray<string | null>,
  from: number,
  parameters: SqlParameters,
): string => {
  const { sorts, ties, direction, countsEquals } = order
  const sort = sorts[from]
  const isOneWay = sorts.slice(from).every((one) => one.direction === direction)
  // Behind the first sort, which has a branch for its NULLs, only terms without NULLs can share a comparison.
  if (sort === undefined || (isOneWay && sorts.slice(Math.max(1, from)).every(({ nullable }) => !nullable))) {
    const terms = [...sorts.slice(from), ...ties]
    const compared = comparison(comparedTerms(terms, place.slice(from), parameters), direction, countsEquals)
    return terms.length === 0 ? String(countsEquals) : compared
  }
  const isNull = `${sort.sql} IS NOT DISTINCT FROM NULL`
  const rest = () => afterFrom(order, place, from + 1, parameters)
  const value = place[from] ?? null
  if (value === null) return `${isNull} AND ${rest()}`
  const [compared] = comparedTerms([sort], [value], parameters)
  const is = (which: "eq" | "ge" | "gt" | "le" | "lt") =>
    `${compared!.of} ${operatorSql(sort.operators, which)} ${compared!.value}`
  const [strict, loose] = sort.direction === "asc" ? (["gt", "ge"] as const) : (["lt", "le"] as const)
  const equal = `(${is("eq")} AND ${rest()})`
  if (from === 0) return `${is(loose)} AND (${is(strict)} OR ${equal})`
  return `(${is(strict)}${sort.nullable ? ` OR ${isNull}` : ""} OR ${equal})`
}

/** NULLs are last by default in ascending order only; those of the first sort are in a branch of their own. */
const sortedBy = ({ sorts, ties, direction }: Order): string => {
  const terms = sorts.map(
    (sort, index) =>
      `${orderBy([sort], sort.direction)}${index > 0 && sort.nullable && sort.direction === "desc" ? " NULLS LAST" : ""}`,
  )
  return [...terms, ...(ties.length === 0 ? [] : [orderBy(ties, direction)])].join(", ")
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

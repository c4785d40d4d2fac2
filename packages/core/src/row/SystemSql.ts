/**
 * Writes calls, operators and casts of PostgreSQL's own, always by their schema. A name without one is looked up along the
 * search path among everything that fits the arguments, and a customer's overload that fits them better would be taken.
 * `IS DISTINCT FROM`, `IN`, `BETWEEN`, `LIKE` and `NULLIF` name operators too, so none of them stands in SQL of ours, but
 * for `IS [NOT] DISTINCT FROM NULL`, which is a test and no operator.
 */

/** `call("upper", x)` → `pg_catalog.upper(x)`. */
export const call = (name: string, ...values: ReadonlyArray<string>): string =>
  `pg_catalog.${name}(${values.join(", ")})`

/** In parentheses, for `OPERATOR(…)` binds as no operator that it stands for does. */
export const operate = (left: string, operator: string, right: string): string =>
  `(${left} OPERATOR(pg_catalog.${operator}) ${right})`

/** All of them, from left to right. */
export const operateAll = (operator: string, values: readonly [string, ...ReadonlyArray<string>]): string =>
  values.reduce((left, right) => operate(left, operator, right))

/** `type`: as `pg_type` has it, such as `int8`. Only for values whose type is PostgreSQL's own: others bring casts of their own. */
export const castTo = (value: string, type: string): string => `(${value})::pg_catalog.${type}`

/** The collation by which texts are compared byte by byte. */
export const BYTEWISE = `COLLATE "pg_catalog"."C"`

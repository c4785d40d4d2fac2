/**
 * Generates calls, operators and casts of PostgreSQL's own functions and types, always qualified with their schema. An
 * unqualified name is resolved along the search path among everything that fits the arguments, and a customer's
 * overload that fits better would be chosen. `IS DISTINCT FROM`, `IN`, `BETWEEN`, `LIKE` and `NULLIF` also use
 * operators, so none of them appears in our SQL, except `IS [NOT] DISTINCT FROM NULL`, which is a test and not an
 * operator.
 */

/** `call("upper", x)` → `pg_catalog.upper(x)`. */
export const call = (name: string, ...values: ReadonlyArray<string>): string =>
  `pg_catalog.${name}(${values.join(", ")})`

/** In parentheses, because `OPERATOR(…)` does not have the precedence of the operator that it names. */
export const operate = (left: string, operator: string, right: string): string =>
  `(${left} OPERATOR(pg_catalog.${operator}) ${right})`

/** Combines all values, from left to right. */
export const operateAll = (operator: string, values: readonly [string, ...ReadonlyArray<string>]): string =>
  values.reduce((left, right) => operate(left, operator, right))

/**
 * `type`: as in `pg_type`, such as `int8`. Only for values whose type is PostgreSQL's own: other types bring casts of their
 * own.
 */
export const castTo = (value: string, type: string): string => `(${value})::pg_catalog.${type}`

/** The collation that compares texts byte by byte. */
export const BYTEWISE = `COLLATE "pg_catalog"."C"`

/**
 * The facts about a column's type that the rules need: how its values look as JSON, which operations it supports, and
 * the type name that a parameter is cast to. A domain appears here as its base type.
 */

/** The operators of a type's own order, if it has one: their names, and their schema. */
export interface TypeOperators {
  readonly schema: string
  /** True if the operators compare arrays of one element each, in place of the values. */
  readonly ofArrays?: boolean
  readonly lt: string
  readonly le: string
  readonly eq: string
  readonly ge: string
  readonly gt: string
}

/** The operators of nearly every type. */
export const SYSTEM_OPERATORS: TypeOperators = { schema: "pg_catalog", lt: "<", le: "<=", eq: "=", ge: ">=", gt: ">" }

/**
 * Operators for a type whose own operators are in a schema that the reader may not use. Arrays are compared by the
 * order of their elements' type, by operators open to every role, but no index supports this.
 */
export const ARRAY_OPERATORS: TypeOperators = { ...SYSTEM_OPERATORS, ofArrays: true }

interface TypeFacts {
  /** Quoted, with its schema and without a length modifier, so that a cast to it changes nothing: `"pg_catalog"."numeric"`. */
  readonly sql: string
  /** The database's name for the type, used in messages. */
  readonly name: string
  /** Null for a type without an order, and therefore without equality: `json`, `point`, `xml`. */
  readonly operators: TypeOperators | null
  /** Whether PostgreSQL's own to_json writes it in our format, at every depth. */
  readonly plainJson: boolean
  /**
   * True for a type that consists of PostgreSQL's own types only and has the same text under any search path: no function,
   * operator or cast that a customer created can run when a value is read, written or compared.
   */
  readonly runsNoUserCode: boolean
  /** A date, time or timestamp, or a type that contains one: its text can contain words such as `today`. */
  readonly temporal: boolean
  /** True for a domain over the described type: its values are compared as those of the type. */
  readonly isDomain?: boolean
}

/** Types with a single value. `other` covers every type that is shown as its text. */
export interface ScalarType extends TypeFacts {
  readonly kind: ScalarKind
}

/** The kinds of types with a single value. */
export type ScalarKind =
  | "number"
  | "boolean"
  | "text"
  | "date"
  | "timestamp"
  | "timestamptz"
  | "json"
  | "jsonb"
  | "bytea"
  | "other"

/** An array type. */
export interface ArrayType extends TypeFacts {
  readonly kind: "array"
  readonly element: ColumnType
}

/** A composite type. */
export interface CompositeType extends TypeFacts {
  readonly kind: "composite"
  readonly fields: ReadonlyArray<{ readonly name: string; readonly type: ColumnType }>
}

export type ColumnType = ScalarType | ArrayType | CompositeType

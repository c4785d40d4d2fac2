/**
 * What the rules need to know of a column's type: how its values look as JSON, what may be asked of them, and the name
 * that a parameter is cast to. A domain stands here as the type it is made of.
 */

/** The operators of a type's own order, for types that have one: their names, and the schema they live in. */
export interface TypeOperators {
  readonly schema: string
  readonly lt: string
  readonly le: string
  readonly eq: string
  readonly ge: string
  readonly gt: string
}

/** Those of nearly every type. */
export const SYSTEM_OPERATORS: TypeOperators = { schema: "pg_catalog", lt: "<", le: "<=", eq: "=", ge: ">=", gt: ">" }

interface TypeFacts {
  /** Quoted, with its schema and without a length, so that a cast to it changes nothing: `"pg_catalog"."numeric"`. */
  readonly sql: string
  /** The database's name of the type, for messages. */
  readonly name: string
  /** Null for a type without an order, and so without equality: `json`, `point`, `xml`. */
  readonly operators: TypeOperators | null
  /** PostgreSQL's own to_json writes it as we do, all the way down. */
  readonly plainJson: boolean
  /**
   * PostgreSQL's own through and through, and written the same along any search path: no function, operator or cast that a
   * customer made can run when a value is read, written or compared.
   */
  readonly runsNoUserCode: boolean
  /** A day, a time or a moment, or made of any: words such as `today` may stand in its texts. */
  readonly temporal: boolean
}

/** Types whose values are one thing. `other` is every type that is shown as its text. */
export interface ScalarType extends TypeFacts {
  readonly kind: ScalarKind
}

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

export interface ArrayType extends TypeFacts {
  readonly kind: "array"
  readonly element: ColumnType
}

export interface CompositeType extends TypeFacts {
  readonly kind: "composite"
  readonly fields: ReadonlyArray<{ readonly name: string; readonly type: ColumnType }>
}

export type ColumnType = ScalarType | ArrayType | CompositeType

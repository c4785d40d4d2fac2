/**
 * What the rules need to know of a column's type: how its values look as JSON, what may be asked of them, and the name
 * that a parameter is cast to. A domain stands here as the type it is made of.
 */

interface TypeFacts {
  /** Quoted, with its schema and without a length, so that a cast to it changes nothing: `pg_catalog.numeric`. */
  readonly sql: string
  /** The database's name of the type, for messages. */
  readonly name: string
  /** Its values have an order (`<`, `>`), and with it equality. */
  readonly ordered: boolean
  /** PostgreSQL's own to_json writes it as we do, all the way down. */
  readonly plainJson: boolean
  /** No function that a customer wrote can run when a text is read as this type. */
  readonly builtIn: boolean
}

/** Types whose values are one thing. `other` is every type that is shown as its text. */
export interface ScalarType extends TypeFacts {
  readonly kind:
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
}

export interface ArrayType extends TypeFacts {
  readonly kind: "array"
  readonly element: ColumnType
}

export interface CompositeType extends TypeFacts {
  readonly kind: "composite"
  readonly fields: ReadonlyArray<{ readonly name: string; readonly type: ColumnType }>
}

export type ColumnType = ScalarType | ArrayType | CompositeType

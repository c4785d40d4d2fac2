/**
 * The values of a statement, in the order of their placeholders. A value never becomes part of the SQL text.
 *
 * `add` writes a mark; `statement` numbers the marks that the finished text contains. So a part of the statement that
 * is built and then left out leaves no parameter whose type PostgreSQL could not determine.
 */
import type { ColumnType } from "../row/ColumnType.ts"
import type { QueryValue } from "../row/RowReader.ts"

/** An expression whose values a parameter is compared with, and their type. */
export interface ComparedTerm {
  readonly sql: string
  readonly type: Pick<ColumnType, "sql">
}

/** No name and no literal in our SQL contains it. */
const MARK = "\0"

const SYSTEM_TYPE = /^(pg_catalog|"pg_catalog")\./

export class SqlParameters {
  readonly #added: Array<QueryValue> = []

  /** Returns a placeholder for the text, cast to the type; the same value again gets the same placeholder. */
  add(text: string, type: string): string {
    return `${this.#mark({ text, type, like: null })}::${type}`
  }

  /**
   * Returns the text as a value of the term's type. Only PostgreSQL's own types are named: the reader may not be allowed to
   * use the schema of any other, so its parameter takes the type from the term. The planner evaluates the CASE.
   */
  addLike(text: string, { sql, type }: ComparedTerm): string {
    if (SYSTEM_TYPE.test(type.sql)) return this.add(text, type.sql)
    return valueLike(this.#mark({ text, type: type.sql, like: sql }), sql)
  }

  /** The text with its placeholders numbered, and their values. */
  statement(text: string): { readonly text: string; readonly values: ReadonlyArray<QueryValue> } {
    const parts = text.split(MARK)
    const values: Array<QueryValue> = []
    const numbers = new Map<string, number>()
    for (let at = 1; at < parts.length; at += 2) {
      const mark = parts[at]!
      let number = numbers.get(mark)
      if (number === undefined) {
        number = values.push(this.#added[Number(mark)]!)
        numbers.set(mark, number)
      }
      parts[at] = `$${number}`
    }
    return { text: parts.join(""), values }
  }

  #mark(added: QueryValue): string {
    const known = this.#added.findIndex(({ text, type }) => text === added.text && type === added.type)
    return `${MARK}${known === -1 ? this.#added.push(added) - 1 : known}${MARK}`
  }
}

/** `placeholder` as a value of the type of `sql`, or of its base type if that is a domain. */
export const valueLike = (placeholder: string, sql: string): string =>
  `CASE WHEN true THEN ${placeholder} ELSE ${sql} END`

/** PostgreSQL's type for text. */
export const TEXT = "pg_catalog.text"

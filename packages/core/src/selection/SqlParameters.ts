/** The values of a statement, in the order of their placeholders. A value never becomes part of the SQL text. */
import type { QueryValue } from "../row/RowReader.ts"

export class SqlParameters {
  readonly values: Array<QueryValue> = []

  /** Returns a placeholder for the text, cast to the type; the same value again gets the same placeholder. */
  add(text: string, type: string): string {
    const known = this.values.findIndex((value) => value.text === text && value.type === type)
    const index = known === -1 ? this.values.push({ text, type }) : known + 1
    return `$${index}::${type}`
  }
}

export const TEXT = "pg_catalog.text"

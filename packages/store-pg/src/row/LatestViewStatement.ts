/** A view of the latest row by key: a source's table only grows, and what it says of one thing last is what holds. */
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"

interface ObjectName {
  readonly schema: string
  readonly name: string
}

export interface LatestView {
  readonly of: ObjectName
  /** At least one column; a row without any of them is about nothing. */
  readonly keys: ReadonlyArray<string>
  /** What tells which row is later. */
  readonly by: string
  readonly view: ObjectName
  readonly replace: boolean
}

/** A column that the table gets later is in the view once it is replaced. */
export const latestViewStatement = ({ of, keys, by, view, replace }: LatestView): string => {
  const names = keys.map(quoteName)
  return `CREATE ${replace ? "OR REPLACE " : ""}VIEW ${quoteQualified(view.schema, view.name)} AS
  SELECT DISTINCT ON (${names.join(", ")}) *
  FROM ${quoteQualified(of.schema, of.name)}
  WHERE ${names.map((name) => `${name} IS NOT NULL`).join(" AND ")}
  ORDER BY ${names.join(", ")}, ${quoteName(by)} DESC`
}

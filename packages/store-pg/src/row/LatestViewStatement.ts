/** The statement that creates a view of the latest row by key. */
import type { LatestViewPlan } from "@data-cabinet/core/row/LatestViewStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"

/** Columns added to the table later appear in the view when it is replaced. */
export const latestViewStatement = ({ of, keys, order, view, replace }: LatestViewPlan): string => {
  const names = keys.map(quoteName)
  const latest = order.map(({ column, mayBeEmpty }) => `${quoteName(column)} DESC${mayBeEmpty ? " NULLS LAST" : ""}`)
  return `CREATE ${replace ? "OR REPLACE " : ""}VIEW ${quoteQualified(view.schema, view.name)} AS
  SELECT DISTINCT ON (${names.join(", ")}) *
  FROM ${quoteQualified(of.schema, of.name)}
  WHERE ${names.map((name) => `${name} IS NOT NULL`).join(" AND ")}
  ORDER BY ${[...names, ...latest].join(", ")}`
}

/** A query without rows that fails if the view cannot be read, for example because it reads itself. */
export const readNothing = ({ view }: LatestViewPlan): string =>
  `SELECT FROM ${quoteQualified(view.schema, view.name)} LIMIT 0`

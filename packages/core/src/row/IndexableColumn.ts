/** Which columns an index can have, and in which order it would serve a read. */
import type { ReadableColumn } from "./Catalog.ts"
import { filterGroups, type PageQuery } from "./RowReader.ts"

/** With more columns, the longest numbers would not fit into an entry together with the key. */
export const MAX_INDEX_COLUMNS = 3

/** Kinds whose values are short, and other built-in types of PostgreSQL with short values. */
const SHORT_KINDS: ReadonlySet<string> = new Set(["number", "boolean", "date", "timestamp", "timestamptz"])
const SHORT_TYPES: ReadonlySet<string> = new Set(["uuid", "interval", "inet", "cidr", "macaddr"])
const LONG_KINDS: ReadonlySet<string> = new Set(["text", "jsonb"])

/** True for a column that a btree can index. */
export const isShort = ({ type }: ReadableColumn) =>
  type.runsNoUserCode && type.operators !== null && (SHORT_KINDS.has(type.kind) || SHORT_TYPES.has(type.name))

/** True for a column that only a hash index can index. */
export const isLong = ({ type }: ReadableColumn) =>
  type.runsNoUserCode && type.operators !== null && LONG_KINDS.has(type.kind)

const RANGES: ReadonlySet<string> = new Set(["gt", "ge", "lt", "le"])

/**
 * The columns of an index that would serve the page: those that must equal a value, then the one that its rows are
 * sorted by, or that must be within a range. Empty if no index would help: the rows are a view's, are found by their
 * key, or are compared in a way that no index serves.
 */
export const servingColumns = ({ table, compared }: Pick<PageQuery, "table" | "compared">): ReadonlyArray<string> => {
  if (table.identity === "text") return []
  const { period, sort } = compared
  // An index serves no alternatives.
  const filters = filterGroups(compared.filters)
    .filter((group) => group.length === 1)
    .flat()
  const equal = new Set(filters.filter(({ condition }) => condition === "eq").map(({ column }) => column))
  const { key } = table.detail
  const names = new Set([...equal].map(({ name }) => name))
  if (key.length > 0 && key.every((name) => names.has(name))) return []
  const exact = [...equal].filter(isShort)
  const text = [...equal].find(isLong)
  // A hash index has only one column.
  if (exact.length === 0 && text !== undefined) return [text.name]
  const ranges = filters.filter(({ condition }) => RANGES.has(condition)).map(({ column }) => column)
  const range = [...ranges, ...(period === null ? [] : [period.column])].find(isShort)
  const order = sort !== null && isShort(sort) ? sort : undefined
  const last = exact.length === 0 ? (range ?? order) : (order ?? range)
  // A value of such a column often matches half of the table.
  if (last === undefined && exact.every(({ type }) => type.kind === "boolean")) return []
  const first = exact.map(({ name }) => name).toSorted()
  return [...new Set(last === undefined ? first : [...first.slice(0, MAX_INDEX_COLUMNS - 1), last.name])].slice(
    0,
    MAX_INDEX_COLUMNS,
  )
}

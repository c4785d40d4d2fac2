/** Rows of a cabinet's tables and views, by the same selections as the API's. */
import type { Column } from "@data-cabinet/core/row/Table"
import type { Direction, FilterCondition, FilterJoin } from "@data-cabinet/core/selection/Selection"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import type { Run } from "./RunEffect.ts"
import { namesOf } from "./TablesApi.ts"

export type { Column, Direction, FilterCondition, FilterJoin }

/** One value, or several in their order. */
export type OneOrMany<A> = A | ReadonlyArray<A>

/** A selection, with the names of the API's parameters. An omitted one restricts nothing. */
export interface RowsQuery {
  /** A text to search for in every column, ignoring case. */
  readonly q?: string | undefined
  /** Columns to filter by. The condition and the value of each are at the same position in `fo` and `fv`. */
  readonly fc?: OneOrMany<string> | undefined
  /** One condition for each of `fc`. */
  readonly fo?: OneOrMany<FilterCondition> | undefined
  /** One value for each of `fc`; empty for `empty` and `notempty`. */
  readonly fv?: OneOrMany<string | number> | undefined
  /**
   * Joins adjacent filters: the first stands between the first two, and so on; `and` where it is left out. Filters joined by
   * `or` form a group, and a row must match at least one filter of every group.
   */
  readonly fj?: OneOrMany<FilterJoin> | undefined
  /** The date column for `from` and `to`. */
  readonly per?: string | undefined
  /** The first day, `YYYY-MM-DD`, in the cabinet's time zone. */
  readonly from?: string | undefined
  /** The last day, inclusive. */
  readonly to?: string | undefined
  /**
   * The column to sort by, or several: each sorts the rows that are equal in those before. By default a source's table shows
   * the newest rows first.
   */
  readonly sort?: OneOrMany<string> | undefined
  /** The direction of the sort at the same position, `asc` by default; without `sort`, that of the default order. */
  readonly dir?: OneOrMany<Direction> | undefined
  /** Exactly these columns, in this order. */
  readonly col?: OneOrMany<string> | undefined
  /** These columns first; cannot be combined with `col`. */
  readonly order?: OneOrMany<string> | undefined
  /** All columns but these; cannot be combined with `col`. */
  readonly hide?: OneOrMany<string> | undefined
  /** Rows per page, 1 to 1000. Default 100. */
  readonly limit?: number | undefined
  /** The `nextCursor` of the previous page; all other parameters must stay the same. */
  readonly cursor?: string | undefined
}

/** One row: its values, keyed by column name. */
export type Row = Readonly<Record<string, unknown>>

/** A page of rows. */
export interface RowsResult {
  /** The parsed rows. Numbers past 2^53 lose digits, as everywhere in JavaScript; `texts` keeps them. */
  readonly rows: ReadonlyArray<Row>
  /** The definition of each column. */
  readonly columns: ReadonlyArray<Column>
  /** Whether there is a next page. */
  readonly hasMore: boolean
  /** The next page's `cursor`; null on the last page. */
  readonly nextCursor: string | null
  /** The rows as JSON text, with every digit that the database holds. */
  readonly texts: ReadonlyArray<string>
}

const given = (value: unknown): ReadonlyArray<string> => {
  if (value === undefined) return []
  return Array.isArray(value) ? value.map(String) : [String(value)]
}

/** The parameters of a query, by the API's names. */
export const selectionPairs = (query: RowsQuery): ReadonlyArray<readonly [string, string]> =>
  Object.entries(query).flatMap(([parameter, value]) => given(value).map((text) => [parameter, text] as const))

/** Reads one page of an object's rows. */
export const readRows = async (run: Run, object: string, query: RowsQuery): Promise<RowsResult> => {
  const [schema, name] = namesOf(object)
  const params = selectionPairs(query)
  const page = await run(SelectRows.use((rows) => fromCall((call) => rows.page({ schema, name, params }, call))))
  const texts = page.items.texts()
  return {
    rows: texts.map((text) => JSON.parse(text) as Row),
    columns: page.columns,
    hasMore: page.hasMore,
    nextCursor: page.nextCursor,
    texts,
  }
}

/** Reads all rows of a selection, page by page. */
export async function* readAllRows(run: Run, object: string, query: RowsQuery): AsyncGenerator<Row, void, undefined> {
  let cursor = query.cursor
  do {
    const page: RowsResult = await readRows(run, object, { limit: 1000, ...query, cursor })
    yield* page.rows
    cursor = page.nextCursor ?? undefined
  } while (cursor !== undefined)
}

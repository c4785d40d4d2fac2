/** A page's query whose rows arrive in PostgreSQL's binary format, a message each; for reads without user code. */
import type { ReadableColumn, ReadableTable } from "@data-cabinet/core/row/Catalog"
import { type FoundRows, type PageQuery, shownColumn } from "@data-cabinet/core/row/RowReader"
import { type EncodedColumn, encodedColumn } from "./RecordToJson.ts"
import { RowPosition } from "./RowPosition.ts"
import { RowJson, RowsToJson } from "./RowsToJson.ts"

/** The alias of the page's query. */
const ROWS = `"t"`

/** Tables whose rows proved too long to be sent all at once. */
const longRows = new WeakSet<ReadableTable>()

export const hasLongRows = (table: ReadableTable): boolean => longRows.has(table)

export class RowPage {
  readonly text: string
  /** The types of its columns, by oid. */
  readonly types: ReadonlyArray<number>
  /** Whether its rows are fetched a few at a time. */
  readonly areLong: boolean
  readonly #query: PageQuery
  readonly #json: RowJson
  readonly #position: RowPosition

  constructor(query: PageQuery) {
    const { columns, json } = encoded(query.shown)
    this.#query = query
    this.#json = json
    this.#position = new RowPosition(ROWS, query.position, columns)
    this.areLong = hasLongRows(query.table)
    this.types = [...columns.map(({ oid }) => oid), ...this.#position.types]
    this.text = `SELECT ${[...columns.map(({ sql }) => sql), ...this.#position.sent].join(", ")} FROM (${query.text}) AS ${ROWS}`
  }

  /** Creates the object that decodes the page's rows. */
  rows(): RowsToJson {
    return new RowsToJson({
      json: this.#json,
      position: this.#position,
      limit: this.#query.limit,
      values: this.types.length,
      areLong: this.areLong,
    })
  }

  /** Records that the rows are too long to be sent all at once: later pages of the table fetch them a few at a time. */
  isTooLong(): void {
    longRows.add(this.#query.table)
  }
}

/** The result of a read. */
export const foundRows = (rows: RowsToJson): FoundRows => ({
  items: rows.items(),
  hasMore: rows.hasMore,
  positionOf: (item) => rows.positionOf(item),
})

interface Encoded {
  readonly columns: ReadonlyArray<EncodedColumn>
  readonly json: RowJson
}

const encodedBefore = new WeakMap<ReadonlyArray<ReadableColumn>, Encoded>()

const encoded = (shown: ReadonlyArray<ReadableColumn>): Encoded => {
  const known = encodedBefore.get(shown)
  if (known !== undefined) return known
  const columns = shown.map(({ name, type }, index) => encodedColumn(name, type, `${ROWS}.${shownColumn(index)}`))
  const made = { columns, json: new RowJson(columns) }
  encodedBefore.set(shown, made)
  return made
}

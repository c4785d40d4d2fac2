/**
 * Records passed to a statement as one array parameter per column and read there with `unnest`. A column is described once:
 * its name, its type, and where a record has its value.
 */
import { boolArray, byteaArray, int4Array, int8Array, textArray } from "./Parameter.ts"

export interface InputColumn<Row> {
  /** The type in SQL. */
  readonly type: string
  readonly arrayOf: (rows: ReadonlyArray<Row>) => unknown
}

const columnOf =
  <Value>(type: string, array: (values: ReadonlyArray<Value>) => unknown) =>
  <Row>(valueOf: (row: Row) => Value): InputColumn<Row> => ({ type, arrayOf: (rows) => array(rows.map(valueOf)) })

export const int4 = columnOf<number>("int4", int4Array)
export const int8 = columnOf<number>("int8", int8Array)
export const bool = columnOf<boolean>("bool", boolArray)
export const optionalBool = columnOf<boolean | null>("bool", boolArray)
export const text = columnOf<string | null>("text", textArray)
export const bytea = columnOf<Uint8Array>("bytea", byteaArray)

export class InputColumns<Row> {
  /** In the order of the parameters. */
  readonly names: ReadonlyArray<string>
  readonly #columns: ReadonlyArray<InputColumn<Row>>

  constructor(columns: Readonly<Record<string, InputColumn<Row>>>) {
    this.names = Object.keys(columns)
    this.#columns = Object.values(columns)
  }

  /** One parameter per column. */
  parameters(rows: ReadonlyArray<Row>): ReadonlyArray<unknown> {
    return this.#columns.map(({ arrayOf }) => arrayOf(rows))
  }

  /** The arguments of `unnest`, if the first of the parameters is number `first` of the statement. */
  placeholders(first: number): ReadonlyArray<string> {
    return this.#columns.map(({ type }, index) => `$${first + index}::${type}[]`)
  }
}

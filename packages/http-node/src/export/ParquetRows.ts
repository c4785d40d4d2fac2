/**
 * Rows as Parquet, one row group after another. Nothing is rounded: a number without a declared scale is text, unless
 * the caller says how many digits it has; a value that a column's type cannot hold ends the export, with a message that
 * locates it.
 */
import { zstdCompressSync } from "node:zlib"
import { cellTokens } from "@data-cabinet/core/row/CellTokens"
import type { ExportShape, RowEncoder } from "@data-cabinet/core/export/ExportFormat"
import { selectionError } from "@data-cabinet/core/selection/SelectionParams"
import type { ParquetWriter as Writer } from "hyparquet-writer"
import { parquetColumn } from "./ParquetColumn.ts"
import { type SchemaElement, type Field, fieldOf, refuseUnknown } from "./ParquetField.ts"

/** At most this many bytes of text are held until their group is written. */
const GROUP_CHARS = 3 * 1024 * 1024

/** The library's own compression makes files of about twice the size. */
const COMPRESSION = { codec: "ZSTD", compressors: { ZSTD: (page: Uint8Array) => zstdCompressSync(page) } } as const

/**
 * An element while its values are written: they come as the file has them. If the writer knew their logical types, it
 * would first copy all values of a group, and parse JSON, losing its digits.
 */
const physical = ({ element, held }: Field): Omit<SchemaElement, "name"> =>
  held === "values" ? element : { type: element.type! }

/** The bounds in the last group's statistics are bytes of the columns, which the next group overwrites. */
const keepBounds = (writer: Writer): void => {
  for (const { meta_data } of writer.row_groups.at(-1)?.columns ?? []) {
    const { statistics } = meta_data ?? {}
    if (statistics === undefined) continue
    const { min_value, max_value } = statistics
    if (min_value instanceof Uint8Array) statistics.min_value = new Uint8Array(min_value)
    if (max_value instanceof Uint8Array) statistics.max_value = new Uint8Array(max_value)
  }
}

export const encodeParquet = (shape: ExportShape): RowEncoder =>
  async function* ({ columns, declared, batches, metadata }) {
    // Loaded only for Parquet exports.
    const { ByteWriter, ParquetWriter } = await import("hyparquet-writer")
    refuseUnknown(columns, shape)
    const fields = columns.map(({ name, type }, index) => fieldOf(name, type, declared[index] ?? null, shape))
    const schemaOf = (element: (field: Field) => Omit<SchemaElement, "name">): Array<SchemaElement> => [
      { name: "rows", num_children: columns.length },
      ...fields.map((field, index): SchemaElement => ({
        name: columns[index]!.name,
        repetition_type: "OPTIONAL",
        ...element(field),
      })),
    ]
    const bytes = new ByteWriter()
    const writer = new ParquetWriter({
      writer: bytes,
      schema: schemaOf(physical),
      createdBy: "data-cabinet",
      ...COMPRESSION,
    })
    const taken = (): Uint8Array => {
      const piece = Buffer.from(bytes.getBytes())
      bytes.index = 0
      return piece
    }
    const held = fields.map((field) => parquetColumn(field.held))
    let chars = 0
    let number = 0
    let rows = 0
    const group = (): Uint8Array => {
      // The writer reads a column's values when it reaches the column, and releases them before it reaches the next.
      const columnData = held.map((column, index) => ({
        name: columns[index]!.name,
        get data() {
          return column.values()
        },
      }))
      void writer.write({ columnData, rowGroupSize: Math.max(1, rows) })
      keepBounds(writer)
      for (const column of held) column.clear()
      chars = 0
      rows = 0
      return taken()
    }
    const take = (item: string): void => {
      number++
      rows++
      chars += item.length
      for (const [index, token] of cellTokens(item).entries()) {
        const { value, holds } = fields[index]!
        const stored = token === "null" ? null : value(token)
        if (stored === undefined) {
          const name = columns[index]!.name
          throw selectionError(
            "bad_selection",
            shape.decimals?.[name] === undefined ? "text" : "decimal",
            `Row ${number} has ${token.slice(0, 100)} in column ${JSON.stringify(name)}, which is exported as ${holds}: export it as text.`,
          )
        }
        held[index]!.push(stored)
      }
    }
    for await (const items of batches) {
      for (const item of items.texts()) {
        take(item)
        if (chars >= GROUP_CHARS) yield group()
      }
    }
    if (chars > 0) yield group()
    // Older readers know JSON by the converted type alone.
    writer.schema = schemaOf(({ element }) =>
      element.logical_type?.type === "JSON" ? { ...element, converted_type: "JSON" } : element,
    )
    if (metadata !== undefined) {
      writer.kvMetadata = Object.entries(metadata()).map(([key, value]) => ({ key, value }))
    }
    void writer.finish()
    yield taken()
  }

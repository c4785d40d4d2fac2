/** Reads the rows of a table's screens: of a wide table the part of its columns that is shown. */
import { Catalog, type ReadableColumn, type ReadableTable } from "@data-cabinet/core/row/Catalog"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { SelectRows } from "@data-cabinet/core/selection/SelectRows"
import { shownColumns } from "@data-cabinet/core/selection/ShownColumns"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { NO_SUCH_TABLE } from "@data-cabinet/http-node/row/TablePath"
import { Effect, Option } from "effect"
import type { Pairs } from "../screen/ConsoleScreen.ts"
import { columnPart, PART_COLUMNS, withoutPart, withRows } from "./ColumnPart.ts"

export const tablePages = Effect.gen(function* () {
  const catalog = yield* Catalog
  const rows = yield* SelectRows

  const found = (schema: string, name: string) =>
    Effect.flatMap(catalog.find(schema, name), (table) =>
      Option.isSome(table) ? Effect.succeed(table.value) : Effect.fail<ManageError>(NO_SUCH_TABLE),
    )

  const read = (table: ReadableTable, params: Pairs, reads: ReadonlyArray<string> | undefined) =>
    Effect.map(
      fromCall((call) => rows.page({ ...table.detail, params, ...(reads === undefined ? {} : { reads }) }, call)),
      ({ items, columns, nextCursor }) => ({
        rows: items.texts(),
        nextCursor,
        columns: columns.flatMap(({ name }): ReadonlyArray<ReadableColumn> => {
          const column = table.columns.find((one) => one.name === name)
          return column === undefined ? [] : [column]
        }),
      }),
    )

  /** A page with the part of the columns that `pairs` requests; of a narrow table, with all of them. */
  const page = Effect.fnUntraced(function* (table: ReadableTable, pairs: Pairs) {
    const params = withoutPart(pairs)
    const shown = yield* Effect.fromResult(shownColumns(table, params))
    const part = columnPart(shown, pairs)
    const inPart = part === null ? shown : shown.slice(part.from, part.to)
    // A row's address needs its key. Every part has the same rows, even one with fewer columns.
    const reads = part === null ? undefined : [...inPart, ...table.detail.key]
    return {
      ...(yield* read(table, withRows(params, part === null ? shown.length : PART_COLUMNS), reads)),
      shown,
      part,
    }
  })

  /** A page with every column. */
  const whole = (table: ReadableTable, pairs: Pairs) => read(table, pairs, undefined)

  return { found, page, whole }
})

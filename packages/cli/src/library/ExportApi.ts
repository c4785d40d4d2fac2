/** All rows of a selection as a file, in pieces. */
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import type { DecimalDigits, ExportFormat, ExportShape } from "@data-cabinet/core/export/ExportFormat"
import { refusedDelimiter } from "@data-cabinet/core/export/RowText"
import { fileEncoder } from "@data-cabinet/http-node/export/FileEncoder"
import { decimalDigits } from "@data-cabinet/http-node/export/ParquetField"
import { Cause, Effect, Exit, Scope } from "effect"
import { CabinetError, fromCause } from "./CabinetError.ts"
import { type RowsQuery, selectionPairs } from "./RowsApi.ts"
import type { Run } from "./RunEffect.ts"
import { namesOf } from "./TablesApi.ts"

/** All rows of a selection: the options of `rows`, except those of the page. */
export type Selection = Omit<RowsQuery, "limit" | "cursor">

export type { DecimalDigits, ExportFormat }

/** How to export rows. */
export interface ExportOptions extends ExportShape {
  /** The format of the file. */
  readonly format: ExportFormat
  /**
   * Reads page by page, each in its current state, instead of from one snapshot, which lasts at most 30 minutes. Default
   * false.
   */
  readonly live?: boolean | undefined
}

/** Exports rows, from when the first piece is requested. */
export async function* exportRows(
  run: Run,
  object: string,
  selection: Selection,
  { format, live = false, ...shape }: ExportOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [schema, name] = namesOf(object)
  const refused = shape.delimiter === undefined ? null : refusedDelimiter(shape.delimiter)
  if (refused !== null) throw new CabinetError("bad_option", refused, { param: "delimiter" })
  for (const [column, { precision, scale }] of Object.entries(shape.decimals ?? {})) {
    if (decimalDigits(precision, scale) !== null) continue
    const message = `Column ${JSON.stringify(column)} cannot be a decimal of ${precision} digits, ${scale} after the point.`
    throw new CabinetError("bad_option", message, { param: "decimals" })
  }
  const scope = Scope.makeUnsafe()
  try {
    const request = { schema, name, params: selectionPairs(selection), live }
    const rows = await run(
      Effect.provideService(
        ExportRows.use((exports) => exports.open(request)),
        Scope.Scope,
        scope,
      ),
    )
    yield* fileEncoder(format, name, shape)(rows)
  } catch (error) {
    throw error instanceof CabinetError ? error : fromCause(Cause.fail(error))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

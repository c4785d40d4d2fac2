/** All rows of a selection as a file, in pieces. */
import { ExportRows } from "@data-cabinet/core/export/ExportRows"
import { encodeText, refusedDelimiter, type TextFormat, type TextOptions } from "@data-cabinet/core/export/RowText"
import { Cause, Effect, Exit, Scope } from "effect"
import { CabinetError, fromCause } from "./CabinetError.ts"
import { type RowsQuery, selectionPairs } from "./RowsApi.ts"
import type { Run } from "./RunEffect.ts"
import { namesOf } from "./TablesApi.ts"

/** All rows of a selection: what `rows` takes, but for the page. */
export type Selection = Omit<RowsQuery, "limit" | "cursor">

/** The form of a file: separated by commas or tabs, or a row a line as JSON. */
export type ExportFormat = TextFormat

/** How rows are exported. */
export interface ExportOptions extends TextOptions {
  /** The form of the file. */
  readonly format: ExportFormat
  /**
   * Reads page by page, each as it is then, instead of from one snapshot, which may be held for 30 minutes. Default false.
   */
  readonly live?: boolean | undefined
}

/** Begins with the first piece that is asked for. */
export async function* exportRows(
  run: Run,
  object: string,
  selection: Selection,
  { format, live = false, ...text }: ExportOptions,
): AsyncGenerator<Uint8Array, void, undefined> {
  const [schema, name] = namesOf(object)
  const refused = text.delimiter === undefined ? null : refusedDelimiter(text.delimiter)
  if (refused !== null) throw new CabinetError("bad_option", refused, { param: "delimiter" })
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
    yield* encodeText(format, text)(rows)
  } catch (error) {
    throw error instanceof CabinetError ? error : fromCause(Cause.fail(error))
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void))
  }
}

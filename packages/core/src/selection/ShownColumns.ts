/** The names of the columns that a selection shows, in order, without reading a row. */
import { Result } from "effect"
import { CursorKey } from "../pagination/CursorKey.ts"
import type { ReadableTable } from "../row/Catalog.ts"
import type { SelectionError } from "./SelectionError.ts"
import { type ParamPairs, selectionParams } from "./SelectionParams.ts"
import { selectionPlan } from "./SelectionPlan.ts"

/** A cursor changes no columns and is left out. */
const NO_KEY = new CursorKey(new Uint8Array(32))

/** Fails as the read of the selection would. */
export const shownColumns = (
  table: ReadableTable,
  params: ParamPairs,
): Result.Result<ReadonlyArray<string>, SelectionError> =>
  selectionParams(params.filter(([name]) => name !== "cursor")).pipe(
    Result.flatMap((selection) => selectionPlan(selection, table, NO_KEY)),
    Result.map(({ showing }) => showing.shown.map(({ name }) => name)),
  )

/** Reads a page of an object's rows by a selection: the one way rows are read, for the API, the command and the library. */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Page } from "../page/Page.ts"
import { Catalog } from "../row/Catalog.ts"
import type { ReadError } from "../row/ReadError.ts"
import { RowReader } from "../row/RowReader.ts"
import type { Column } from "../row/Table.ts"
import { CabinetTimeZone } from "./CabinetTimeZone.ts"
import type { SelectionError } from "./SelectionError.ts"
import type { ParamPairs } from "./SelectionParams.ts"

export interface RowsRequest {
  readonly schema: string
  readonly name: string
  readonly params: ParamPairs
}

/** A page of rows: each item is a Row as JSON text, its keys in the order of `columns`. */
export interface RowsPage extends Page {
  readonly columns: ReadonlyArray<Column>
}

/**
 * Refuses in this order: an unknown parameter, a parameter of the wrong form, an object that is not there, a selection
 * that does not fit its columns; only then is anything read.
 */
export class SelectRows extends Context.Service<
  SelectRows,
  {
    readonly page: (request: RowsRequest) => Effect.Effect<RowsPage, SelectionError | ReadError | StoreUnavailable>
  }
>()("@data-cabinet/core/selection/SelectRows") {
  static readonly layer = Layer.effect(
    SelectRows,
    Effect.gen(function* () {
      const catalog = yield* Catalog
      const reader = yield* RowReader
      const timeZone = yield* CabinetTimeZone
      return SelectRows.of({ page: () => Effect.die([catalog, reader, timeZone]) })
    }),
  )
}

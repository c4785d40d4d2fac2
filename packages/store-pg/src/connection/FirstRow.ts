/** The first row of a result, if it has one. */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect, Option } from "effect"
import type { SqlError } from "effect/sql"
import { orUnavailable } from "./StoreFailure.ts"

export const firstRow = <Row, A>(
  rows: Effect.Effect<ReadonlyArray<Row>, SqlError.SqlError>,
  as: (row: Row) => A,
): Effect.Effect<Option.Option<A>, StoreUnavailable> =>
  rows.pipe(
    Effect.map(([row]) => Option.map(Option.fromNullishOr(row), as)),
    orUnavailable,
  )

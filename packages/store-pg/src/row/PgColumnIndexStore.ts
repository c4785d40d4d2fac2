/**
 * Indexes of columns. An index is built on a session without time limits and does not block writers. What an interrupted
 * build leaves behind is dropped at once, or by the next build of the same index.
 */
import { type ColumnIndex, ColumnIndexStore, IndexFailed } from "@data-cabinet/core/row/ColumnIndexStore"
import { quoteName, quoteQualified } from "@data-cabinet/core/row/SqlName"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { textArray } from "../connection/Parameter.ts"
import { isUnavailable, orUnavailable, sqlMessage } from "../connection/StoreFailure.ts"
import { buildColumnIndex, COLUMN_INDEXES, FREE_COLUMN_INDEX_NAME, SERVING_INDEX } from "./ColumnIndexStatement.ts"
import { AS_IT_TAKES, patiently, SHORTLY, outsideTransactions } from "./PatientSession.ts"
import { dropIndex } from "./SearchIndexStatement.ts"

export const layer = Layer.effect(
  ColumnIndexStore,
  Effect.gen(function* () {
    const sql = yield* PgClient.PgClient
    const alone = outsideTransactions(sql)
    const dropAll = (schema: string, names: ReadonlyArray<string>, limits = AS_IT_TAKES) =>
      alone(
        names.map((name) => dropIndex(quoteQualified(schema, name))),
        limits,
      )
    return ColumnIndexStore.of({
      list: (oid) => orUnavailable(sql.unsafe<ColumnIndex>(COLUMN_INDEXES, [BigInt(oid)])),
      serving: (oid, columns, method) =>
        sql.unsafe<{ name: string }>(SERVING_INDEX, [BigInt(oid), textArray(columns), method]).pipe(
          Effect.map(([row]) => row?.name ?? null),
          orUnavailable,
        ),
      build: Effect.fnUntraced(function* ({ oid, schema, table, columns, method, replaced }) {
        yield* dropAll(schema, replaced)
        const [free] = yield* sql.unsafe<{ name: string }>(FREE_COLUMN_INDEX_NAME, [BigInt(oid)])
        const index = free!.name
        const object = quoteQualified(schema, table)
        yield* alone([buildColumnIndex(quoteName(index), object, method, columns.map(quoteName))]).pipe(
          Effect.onError(() => Effect.ignore(dropAll(schema, [index], SHORTLY))),
          Effect.mapError((error) => (isUnavailable(error) ? error : new IndexFailed({ detail: sqlMessage(error) }))),
        )
        yield* alone([`ANALYZE ${object}`])
        return index
      }, patiently),
      drop: (schema, names) => patiently(dropAll(schema, names)),
    })
  }),
)

/**
 * An operator's changes to the columns of a source's table. Senders can only add columns. Refuses columns that do not
 * exist, unsuitable labels, and changes of type that something prevents.
 */
import { Context, Effect, Layer, Option } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { ColumnError } from "./ColumnError.ts"
import type { ColumnKind } from "./FieldColumn.ts"
import type { Notation } from "./Notation.ts"
import { droppable, mayDrop, notDropped } from "./DropColumn.ts"
import { noSuchColumn, noSuchSource, noTable, notRetyped, retypeDecisions } from "./RetypePlan.ts"
import { MAX_LABEL_LENGTH, MORE_COLUMN } from "./RowPlan.ts"
import { type RetypeResult, type RetypeTrial, type SourceColumn, SourceColumnStore } from "./SourceColumnStore.ts"

export type { RetypeResult, RetypeTrial, SourceColumn }

type Returns<A> = Effect.Effect<A, ColumnError | StoreUnavailable>

export class SourceColumns extends Context.Service<
  SourceColumns,
  {
    readonly list: (sourceId: number) => Returns<ReadonlyArray<SourceColumn>>
    readonly relabel: (sourceId: number, column: string, label: string) => Returns<SourceColumn>
    /**
     * Changes a column's type in one transaction. A value is converted only if its text represents a value of the new
     * type exactly: as JSON writes it or, in a text column, in the `notation`. The others move to the sibling column of
     * the old type.
     *
     * Fails if views depend on the column, unless `withViews` is set: then they are recreated with their owners,
     * rights, comments and indexes, within a time limit. Fails if anything else that cannot be recreated depends on the
     * column, and names it.
     */
    readonly retype: (
      sourceId: number,
      column: string,
      type: ColumnKind,
      options: { readonly withViews: boolean; readonly notation?: Notation | undefined },
    ) => Returns<RetypeResult>
    /** The effects of `retype` with its views; fails if a dependent of the column cannot be recreated. */
    readonly tryRetype: (
      sourceId: number,
      column: string,
      type: ColumnKind,
      notation?: Notation,
    ) => Returns<RetypeTrial>
    /**
     * Drops a column without values, and returns it. Fails if it has a value, if it belongs to every source's table, or
     * if a view, an index or anything else uses it. The field's next value creates the column again.
     */
    readonly drop: (sourceId: number, column: string) => Returns<SourceColumn>
  }
>()("@data-cabinet/core/row/SourceColumns") {
  static readonly layer = Layer.effect(
    SourceColumns,
    Effect.map(SourceColumnStore, (store) => {
      const tableOf = Effect.fnUntraced(function* (sourceId: number) {
        const found = yield* store.list(sourceId)
        if (Option.isNone(found)) return yield* noSuchSource(sourceId)
        const { table, columns } = found.value
        if (table === null) return yield* noTable(sourceId)
        return { table, columns }
      })
      return SourceColumns.of({
        list: (sourceId) => Effect.map(tableOf(sourceId), ({ columns }) => columns),
        relabel: Effect.fnUntraced(function* (sourceId, column, label) {
          const { table, columns } = yield* tableOf(sourceId)
          if (label.trim() === "" || label.length > MAX_LABEL_LENGTH) {
            return yield* new ColumnError({ code: "bad_label", message: "A label has 1 to 1,000 characters." })
          }
          const relabelled = yield* store.relabel(sourceId, column, label)
          if (Option.isSome(relabelled)) return relabelled.value
          const names = columns.map(({ name }) => name).filter((name) => name !== MORE_COLUMN)
          return yield* noSuchColumn(table, column, names)
        }),
        retype: (sourceId, column, type, { withViews, notation = {} }) =>
          Effect.catchTag(
            store.retype(
              sourceId,
              column,
              { type, notation },
              retypeDecisions(sourceId, column, { type, notation }, withViews),
            ),
            "NotRetyped",
            (error) => Effect.fail(notRetyped(column, type, error)),
          ),
        tryRetype: (sourceId, column, type, notation = {}) =>
          Effect.catchTag(
            store.tryRetype(
              sourceId,
              column,
              { type, notation },
              retypeDecisions(sourceId, column, { type, notation }, true),
            ),
            "NotRetyped",
            (error) => Effect.fail(notRetyped(column, type, error)),
          ),
        drop: (sourceId, column) =>
          Effect.catchTag(
            store.drop(sourceId, column, {
              column: (table) => droppable(sourceId, table, column),
              use: (use) => mayDrop(column, use),
            }),
            "NotRetyped",
            (error) => Effect.fail(notDropped(column, error)),
          ),
      })
    }),
  )
}

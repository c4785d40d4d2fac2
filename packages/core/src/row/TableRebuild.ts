/**
 * Rebuilds the table of a source from its events, beside the old table, while intake and readers continue. Then the new
 * table takes the old one's place.
 *
 * Decision: docs/decisions/0094-tables-are-rebuilt-beside-the-old-one.md
 */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { ColumnIndexes } from "./ColumnIndexes.ts"
import type { FieldColumn } from "./FieldColumn.ts"
import type { RebuildError } from "./RebuildError.ts"
import { notRebuilt } from "./NotRebuiltWords.ts"
import { rebuildPlan, rebuildPreview } from "./RebuildPlan.ts"
import {
  type RebuildPlan,
  type RebuildPreview,
  type RebuildProgress,
  RebuildStore,
  type RebuildWishes,
} from "./RebuildStore.ts"
import { SearchIndex } from "./SearchIndex.ts"

/** The result of a rebuild. */
export interface RebuildResult {
  readonly table: string
  readonly rows: number
  readonly columns: ReadonlyArray<string>
  /** How long the table was locked at the end, in milliseconds. */
  readonly lockedMillis: number
  /** Indexes that could not be built afterwards, each with the reason. */
  readonly indexesMissing: ReadonlyArray<string>
}

/** The result's JSON and its description. */
export const rebuildResultShape = Shape.named(
  "RebuildResult",
  Shape.object<RebuildResult>("A rebuilt table.", {
    table: Shape.text("The table."),
    rows: Shape.whole("How many rows it has."),
    columns: Shape.list(Shape.text(), "Its field columns, in their order."),
    lockedMillis: Shape.whole("How long the table was locked at the end, in milliseconds."),
    indexesMissing: Shape.list(Shape.text(), "Indexes that could not be built afterwards, each with the reason."),
  }),
)

type Returns<A> = Effect.Effect<A, RebuildError | StoreUnavailable>

export class TableRebuild extends Context.Service<
  TableRebuild,
  {
    /** What a rebuild would do, and what stands in its way. It reads the table once. */
    readonly plan: (sourceId: number, wishes: RebuildWishes) => Returns<RebuildPreview>
    /**
     * Rebuilds the table; `report` is called as it advances. Refused, cancelled or interrupted, it changes nothing. Only
     * one process at a time rebuilds a table.
     */
    readonly run: (
      sourceId: number,
      wishes: RebuildWishes,
      report?: (progress: RebuildProgress) => Effect.Effect<void>,
    ) => Returns<RebuildResult>
    /** Ends the running rebuild, in any process. Returns false if none was running. */
    readonly cancel: (sourceId: number) => Returns<boolean>
  }
>()("@data-cabinet/core/row/TableRebuild") {
  static readonly layer = Layer.effect(
    TableRebuild,
    Effect.gen(function* () {
      const store = yield* RebuildStore
      const indexes = yield* ColumnIndexes
      const searches = yield* SearchIndex

      /** The reason why an index could not be built; null if it was. */
      const built = <A, E extends { readonly message: string }>(name: string, work: Effect.Effect<A, E>) =>
        Effect.match(work, { onSuccess: () => null, onFailure: ({ message }) => `${name}: ${message}` })

      /** Builds the indexes whose columns have changed. The table is in its place already. */
      const buildLater = ({ later, columns }: RebuildPlan, table: string) =>
        Effect.forEach(later, ({ name, made, columns: old }) => {
          if (made === "search") return built(name, searches.build("sources", table))
          const names = old
            .filter((one) => one !== "_event_id")
            .map((one) => columns.find(({ was }) => was === one)?.name ?? one)
          return built(name, indexes.build("sources", table, names))
        }).pipe(Effect.map((reasons) => reasons.filter((reason) => reason !== null)))

      return TableRebuild.of({
        plan: Effect.fnUntraced(function* (sourceId, wishes) {
          return yield* Effect.fromResult(rebuildPreview(sourceId, yield* store.facts(sourceId), wishes))
        }),
        run: Effect.fnUntraced(function* (sourceId, wishes, report = () => Effect.void) {
          let table = ""
          const decide = (facts: Parameters<typeof rebuildPlan>[1]) => {
            table = facts.table?.name ?? ""
            return rebuildPlan(sourceId, facts, wishes)
          }
          const { plan, ...done } = yield* Effect.catchTag(store.run(sourceId, decide, report), "NotRebuilt", (error) =>
            Effect.fail(notRebuilt(sourceId, error)),
          )
          const indexesMissing = yield* buildLater(plan, table)
          const names = done.columns.map(({ name }: FieldColumn) => name)
          return { ...done, table: `sources.${table}`, columns: names, indexesMissing }
        }),
        cancel: (sourceId) =>
          Effect.catchTag(store.cancel(sourceId), "NotRebuilt", (error) => Effect.fail(notRebuilt(sourceId, error))),
      })
    }),
  )
}

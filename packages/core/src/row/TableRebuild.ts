/**
 * Rebuilds the table of a source from its events, beside the old table, while intake and readers continue. Then the new
 * table takes the old one's place.
 *
 * Decision: docs/decisions/0094-tables-are-rebuilt-beside-the-old-one.md
 * Decision: docs/decisions/0095-a-rebuild-says-how-far-it-is.md
 */
import { Cause, Context, Deferred, Effect, Exit, Fiber, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { ColumnIndexes } from "./ColumnIndexes.ts"
import type { FieldColumn } from "./FieldColumn.ts"
import { RebuildError } from "./RebuildError.ts"
import type { RebuildProgress, RebuildResult, RebuildState } from "./RebuildState.ts"
import { notRebuilt } from "./NotRebuiltWords.ts"
import { rebuildPlan, rebuildPreview } from "./RebuildPlan.ts"
import {
  type RebuildPlan,
  type RebuildPreview,
  RebuildStore,
  type RebuildWishes,
  REBUILD_KIND,
} from "./RebuildStore.ts"
import { SearchIndex } from "./SearchIndex.ts"
import type { FollowerKind } from "../follower/FollowerLoop.ts"

/** How long a rebuild may take to be waited for. */
const WAITED_FOR_MILLIS = 2_000

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
    /**
     * Begins a rebuild, and returns its state after a few seconds at most; the rebuild continues in this process. What is
     * refused by then is the error, later refusals are in the state.
     */
    readonly start: (sourceId: number, wishes: RebuildWishes) => Returns<RebuildState>
    /** The latest rebuild of the table, whichever process runs it. */
    readonly state: (sourceId: number) => Returns<RebuildState>
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
      const scope = yield* Effect.scope

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

      const run = Effect.fnUntraced(function* (
        sourceId: number,
        wishes: RebuildWishes,
        report: (progress: RebuildProgress) => Effect.Effect<void> = () => Effect.void,
      ) {
        let table = ""
        const decide = (facts: Parameters<typeof rebuildPlan>[1]) => {
          table = facts.table?.name ?? ""
          return rebuildPlan(sourceId, facts, wishes)
        }
        const { plan, id, ...done } = yield* Effect.catchTag(
          store.run(sourceId, decide, report),
          "NotRebuilt",
          (error) => Effect.fail(notRebuilt(sourceId, error)),
        )
        const indexesMissing = yield* buildLater(plan, table)
        if (plan.later.length > 0) yield* store.lacks(sourceId, id, indexesMissing)
        const columns = done.columns.map(({ name }: FieldColumn) => name)
        return { ...done, table: `sources.${table}`, columns, indexesMissing } satisfies RebuildResult
      })

      const state = Effect.fnUntraced(function* (sourceId: number) {
        const found = yield* store.state(sourceId)
        if (found !== null) return found
        return yield* new RebuildError({
          code: "no_rebuild",
          message: `The table of source ${sourceId} was never rebuilt.`,
        })
      })

      return TableRebuild.of({
        plan: Effect.fnUntraced(function* (sourceId, wishes) {
          return yield* Effect.fromResult(rebuildPreview(sourceId, yield* store.facts(sourceId), wishes))
        }),
        run,
        start: Effect.fnUntraced(function* (sourceId, wishes) {
          const begun = yield* Deferred.make<void>()
          const work = run(sourceId, wishes, () => Effect.asVoid(Deferred.succeed(begun, undefined)))
          const fiber = yield* Effect.forkIn(Effect.onExit(work, logFault), scope)
          yield* Effect.raceFirst(Deferred.await(begun), Effect.asVoid(Fiber.await(fiber)))
          const exit = yield* Effect.timeoutOption(Fiber.await(fiber), WAITED_FOR_MILLIS)
          if (exit._tag === "Some") yield* exit.value
          return yield* state(sourceId)
        }),
        state,
        cancel: (sourceId) =>
          Effect.catchTag(store.cancel(sourceId), "NotRebuilt", (error) => Effect.fail(notRebuilt(sourceId, error))),
      })
    }),
  )
}

/** Logs a fault of the background work, which no response reports. */
const logFault = (exit: Exit.Exit<unknown, unknown>): Effect.Effect<void> =>
  Exit.isFailure(exit) && Cause.hasDies(exit.cause)
    ? Effect.logError("The rebuild of a table failed.", exit.cause)
    : Effect.void

/**
 * Removes what a lost process has left of a rebuild. The lease of a rebuild belongs to the process that began it: another one
 * can claim it only when that process is lost, and then ends the rebuild. The old table is as it was.
 */
export const rebuildFollower: FollowerKind<RebuildStore> = {
  kind: REBUILD_KIND,
  task: "table rebuild cleanup",
  restMillis: 1_000,
  pollMillis: 5_000,
  turn: ({ id, lease }) =>
    Effect.as(
      RebuildStore.use((store) => store.clean(id, lease)),
      "lost" as const,
    ),
}

/**
 * Rebuilds the table of a source beside the old one. The store finds out what the table consists of, and a pure function
 * decides about it: `RebuildPlan`.
 */
import { Context, Data, type Effect, type Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { COLUMN_KINDS, type ColumnKind, type FieldColumn } from "./FieldColumn.ts"
import type { RebuildProgress, RebuildState } from "./RebuildState.ts"
import type { ColumnTable } from "./SourceColumnStore.ts"

/** The kind of follower that writes a new table. Its name is the source's id. */
export const REBUILD_KIND = "rebuild"

/** A column of the new table that differs from the old one, or only has its place. */
export interface WishedColumn {
  /** The column's present name. */
  readonly column: string
  readonly type?: ColumnKind | undefined
  /** Its new name. */
  readonly name?: string | undefined
}

/** What the new table is to be like; by default like the old one. */
export interface RebuildWishes {
  /** These columns come first, in this order. */
  readonly columns: ReadonlyArray<WishedColumn>
  /** Whether columns without a value are left out. */
  readonly withoutEmpty: boolean
  /** Whether fields like `leads[0][name]` become members of `leads`, as for a source with that setting. */
  readonly nestBrackets: boolean
}

/** An index of the old table. */
export interface TableIndexFacts {
  readonly name: string
  readonly columns: ReadonlyArray<string>
  /** Which use case created it; null: somebody by hand. */
  readonly made: "search" | "columns" | null
}

/** What the old table consists of. */
export interface RebuildFacts {
  readonly table: ColumnTable | undefined
  /** The table's owner, if the cabinet has not the owner's rights. */
  readonly foreignOwner: string | null
  readonly rows: number
  /** Rows whose event is missing or erased. */
  readonly withoutEvent: number
  /** Field columns without a value. */
  readonly empty: ReadonlySet<string>
  /** Columns that have a label, a comment or privileges of their own. */
  readonly described: ReadonlySet<string>
  /** The views that read the table, each with the columns that it reads. */
  readonly views: ReadonlyArray<{ readonly name: string; readonly columns: ReadonlyArray<string> }>
  readonly indexes: ReadonlyArray<TableIndexFacts>
  readonly savedViews: ReadonlyArray<{ readonly title: string; readonly query: string }>
  /** What no new table would have, in words. */
  readonly obstacles: ReadonlyArray<string>
}

/** A column of the new table. */
export interface RebuiltColumn extends FieldColumn {
  /** The old column whose label and history it continues; null for a new one. */
  readonly was: string | null
  /** Whether its cells are those of the old table. Otherwise they are made from the events. */
  readonly carried: boolean
}

/** The decision about a rebuild. */
export interface RebuildPlan {
  readonly columns: ReadonlyArray<RebuiltColumn>
  readonly hasMore: boolean
  readonly nestBrackets: boolean
  /** Old columns that the new table lacks. */
  readonly dropped: ReadonlyArray<string>
  /** Names of the indexes that are created again as they were, before the new table takes its place. */
  readonly copied: ReadonlyArray<string>
  /** Indexes that are built afterwards, because their columns change. */
  readonly later: ReadonlyArray<TableIndexFacts>
  readonly views: ReadonlyArray<string>
  /** The types of the old columns that the new ones continue. */
  readonly typesWere: ReadonlyMap<string, ColumnKind>
  /** Whether a row without an event can be moved as it is. */
  readonly carriesRows: boolean
}

/** Why the store did not complete a rebuild. The old table is as it was. */
export class NotRebuilt extends Data.TaggedError("NotRebuilt")<{
  readonly fact:
    | { readonly is: "running"; readonly holder: string | null }
    | { readonly is: "cancelled" | "dropped" | "emptied" | "changed" }
    | { readonly is: "stopped" | "lost" | "fault" }
    | { readonly is: "without_event"; readonly eventId: string }
    | { readonly is: "refused"; readonly detail: string }
    | { readonly is: "view_failed"; readonly detail: string }
    | { readonly is: "depended_on"; readonly detail: string }
    | { readonly is: "busy"; readonly seconds: number }
}> {}

/** What a rebuild did. */
export interface RebuildDone {
  /** The follower that had its lease. */
  readonly id: number
  readonly rows: number
  readonly columns: ReadonlyArray<FieldColumn>
  /** How long the old table was locked, in milliseconds. */
  readonly lockedMillis: number
}

/** What would be done, for the owner. */
export interface RebuildPreview {
  readonly table: string
  readonly rows: number
  readonly rowsWithoutEvent: number
  readonly columns: ReadonlyArray<{
    readonly name: string
    readonly was: string
    readonly type: ColumnKind
    readonly typeWas: ColumnKind
    readonly carried: boolean
  }>
  readonly dropped: ReadonlyArray<string>
  readonly views: ReadonlyArray<string>
  readonly indexes: ReadonlyArray<string>
  readonly indexesLater: ReadonlyArray<string>
  readonly inTheWay: ReadonlyArray<string>
}

/** The preview's JSON and its description. */
export const rebuildPreviewShape = Shape.named(
  "RebuildPreview",
  Shape.object<RebuildPreview>("What a rebuild of a table would do.", {
    table: Shape.text("The table."),
    rows: Shape.whole("How many rows it has."),
    rowsWithoutEvent: Shape.whole("Rows whose event is missing or erased. They are moved as they are."),
    columns: Shape.list(
      Shape.object<RebuildPreview["columns"][number]>("A column of the new table.", {
        name: Shape.text("Its name."),
        was: Shape.text("Its present name."),
        type: Shape.oneOf(COLUMN_KINDS, "Its type."),
        typeWas: Shape.oneOf(COLUMN_KINDS, "Its present type."),
        carried: Shape.flag("Whether its values are moved as they are, and not made from the events."),
      }),
      "The columns in their order. Others follow if the events need them.",
    ),
    dropped: Shape.list(Shape.text(), "The columns that the new table would lack."),
    views: Shape.list(Shape.text(), "The views that would be recreated."),
    indexes: Shape.list(Shape.text(), "The indexes that the new table would have from the beginning."),
    indexesLater: Shape.list(Shape.text(), "The indexes that would be built after the new table has taken its place."),
    inTheWay: Shape.list(Shape.text(), "What prevents the rebuild; empty if nothing does."),
  }),
)

/** Decides about a rebuild from the facts. */
export type DecideRebuild<E> = (facts: RebuildFacts) => Result.Result<RebuildPlan, E>

/** An error of the decision, which is stored as the reason why the rebuild failed. */
interface Refusal {
  readonly code: string
  readonly message: string
}

type Returns<A, E = never> = Effect.Effect<A, E | StoreUnavailable>

export class RebuildStore extends Context.Service<
  RebuildStore,
  {
    /** Scans the table once. */
    readonly facts: (sourceId: number) => Returns<RebuildFacts>
    /** Writes the new table and puts it in the old one's place. Interrupted, it leaves nothing behind. */
    readonly run: <E extends Refusal>(
      sourceId: number,
      decide: DecideRebuild<E>,
      report: (progress: RebuildProgress) => Effect.Effect<void>,
    ) => Returns<RebuildDone & { readonly plan: RebuildPlan }, E | NotRebuilt>
    /** Ends the running rebuild, in any process, and removes what it has written. Returns false if none was running. */
    readonly cancel: (sourceId: number) => Returns<boolean, NotRebuilt>
    /** The latest rebuild, which may be running in another process; null without one. */
    readonly state: (sourceId: number) => Returns<RebuildState | null>
    /** Stores which indexes could not be built after the rebuild. */
    readonly lacks: (sourceId: number, id: number, indexes: ReadonlyArray<string>) => Returns<void>
    /** Removes the remains of a rebuild whose process was lost. */
    readonly clean: (followerId: number, lease: number) => Returns<void>
  }
>()("@data-cabinet/core/row/RebuildStore") {}

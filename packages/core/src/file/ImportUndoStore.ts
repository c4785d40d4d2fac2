/**
 * Stores how far imports are undone. Each step is one short transaction, which moves the events of one slice to the trash and
 * the position after it: whatever is lost in between, the next step begins where the last one ended.
 */
import * as Shape from "../json/Shape.ts"
import { Context, type Effect, type Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { TrashedBy } from "../event/EventListStore.ts"
import type { ColumnUse } from "../row/SourceColumnStore.ts"
import { type KeptColumn, undoColumnMembers } from "./ImportStore.ts"

/** What an undo would do. */
export interface UndoPreview {
  readonly importId: number
  /** Events that would move to the trash, and those already there. */
  readonly events: number
  readonly inTrash: number
  /** Rows that would be deleted. */
  readonly rows: number
  /** Columns that would be dropped; then those that would be kept, although nothing else fills them. */
  readonly columns: ReadonlyArray<string>
  readonly kept: ReadonlyArray<KeptColumn>
  /** Deliveries of these events. An import sends none, but events can be resent by hand. */
  readonly deliveries: number
}

/** What an undo would do, as the APIs show it. */
export const undoPreviewShape = Shape.named(
  "UndoPreview",
  Shape.object<UndoPreview>("What undoing an import would do.", {
    importId: Shape.id("The import's id."),
    events: Shape.whole("How many events would move to the trash."),
    inTrash: Shape.whole("How many of its events are there already."),
    rows: Shape.whole("How many rows would be deleted."),
    ...undoColumnMembers,
    deliveries: Shape.whole("The number of deliveries created for these events; they are kept."),
  }),
)

/** Why an import cannot be undone. */
export type NotUndoable =
  | { readonly is: "missing" }
  | { readonly is: "running"; readonly accepted: number; readonly staged: number }
  | { readonly is: "unrecorded" }

/** Whether a column without values may be dropped; a failure says why not. */
export type MayDrop = (name: string, use: ColumnUse) => Result.Result<void, { readonly message: string }>

export class ImportUndoStore extends Context.Service<
  ImportUndoStore,
  {
    readonly preview: (id: number, mayDrop: MayDrop) => Effect.Effect<UndoPreview | NotUndoable, StoreUnavailable>
    /** Begins an undo, unless it was begun before; null on success. From then on the file may be imported again. */
    readonly begin: (id: number, by: TrashedBy | null) => Effect.Effect<NotUndoable | null, StoreUnavailable>
    /**
     * `more`: a slice was undone. `done`: the undo is complete. `busy`: another process is undoing it, or something
     * that it needs is locked.
     */
    readonly step: (id: number, mayDrop: MayDrop) => Effect.Effect<"more" | "done" | "busy", StoreUnavailable>
    /** The imports whose undo is incomplete. */
    readonly open: Effect.Effect<ReadonlyArray<number>, StoreUnavailable>
  }
>()("@data-cabinet/core/file/ImportUndoStore") {}

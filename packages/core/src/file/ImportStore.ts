/**
 * Stores staged imports and their progress. A process holds an import by a lease, which expires if the process dies; the
 * process that claims the import next continues where the count is.
 */
import * as Shape from "../json/Shape.ts"
import { Context, type Effect, type Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Channel } from "../event/EventLog.ts"
import { type Doubt, doubtShape } from "./Doubt.ts"

/** A column that an undo left in place, and why. */
export interface KeptColumn {
  readonly column: string
  readonly reason: string
}

/** How far an import is undone. */
export interface UndoStatus {
  readonly state: "undoing" | "undone"
  /** The number of the file's rows processed so far. */
  readonly position: number
  /** The number of events moved to the trash; events already there do not count. */
  readonly events: number
  /** The dropped columns; then those that were kept, although nothing fills them. */
  readonly columns: ReadonlyArray<string>
  readonly kept: ReadonlyArray<KeptColumn>
  readonly startedAt: string
  readonly finishedAt: string | null
}

/** An import as shown to its owner. Times are RFC 3339 in UTC. */
export interface ImportStatus {
  readonly id: number
  readonly sourceId: number
  readonly channel: Exclude<Channel, "webhook">
  readonly name: string
  readonly state: "staging" | "accepting" | "done" | "failed"
  readonly bytes: number
  readonly staged: number
  readonly accepted: number
  readonly refused: number
  readonly failure: string | null
  readonly createdAt: string
  readonly finishedAt: string | null
  /** When it was cancelled. Its state is `failed` then. */
  readonly cancelledAt: string | null
  /** Parts that were read, but deserve a look; empty until the file is read. */
  readonly doubts: ReadonlyArray<Doubt>
  /** Null unless it was undone, or is being undone. */
  readonly undo: UndoStatus | null
}

/** The columns of an undo as the APIs show them. */
export const undoColumnMembers = {
  columns: Shape.list(Shape.text(), "The columns that are dropped."),
  kept: Shape.list(
    Shape.object<KeptColumn>("A column that stays.", {
      column: Shape.text("The column's name."),
      reason: Shape.text("What uses it."),
    }),
    "Columns that stay although nothing fills them.",
  ),
}

interface ShownImport extends Omit<ImportStatus, "channel" | "name" | "staged"> {
  readonly file: string
  readonly rows: number
}

/** An import as the APIs show it. */
export const importShape = Shape.derived(
  ({ name: file, staged: rows, ...status }: ImportStatus): ShownImport => ({ ...status, file, rows }),
  Shape.named(
    "Import",
    Shape.object<ShownImport>("An imported file, or the new items of a poll.", {
      id: Shape.id("The import's id."),
      sourceId: Shape.id("The source's id."),
      file: Shape.text("The file's name."),
      state: Shape.oneOf(["staging", "accepting", "done", "failed"]),
      bytes: Shape.whole("The file's size."),
      rows: Shape.whole("The number of its rows so far."),
      accepted: Shape.whole("How many of them are events."),
      refused: Shape.whole("How many were refused."),
      failure: Shape.orNull(Shape.text("Why it failed or is waiting; otherwise null.")),
      createdAt: Shape.time("When it began."),
      finishedAt: Shape.orNull(Shape.time("When it ended; otherwise null.")),
      cancelledAt: Shape.orNull(Shape.time("When it was cancelled; otherwise null.")),
      doubts: Shape.list(doubtShape, "Parts that were read, but deserve a look."),
      undo: Shape.orNull(
        Shape.object<UndoStatus>("How far the import has been undone; otherwise null.", {
          state: Shape.oneOf(["undoing", "undone"]),
          position: Shape.whole("The number of rows of the file that were processed."),
          events: Shape.whole("How many events were moved to the trash."),
          ...undoColumnMembers,
          startedAt: Shape.time("When it began."),
          finishedAt: Shape.orNull(Shape.time("When it ended; otherwise null.")),
        }),
      ),
    }),
  ),
)

/** An import to begin. */
export interface NewImport {
  readonly sourceId: number
  readonly channel: Exclude<Channel, "webhook">
  readonly history: boolean
  readonly name: string
  readonly sha256: Uint8Array | null
  readonly bytes: number
  /** Refuses the import if the same bytes were imported into the source before, or are being imported. */
  readonly once: boolean
  readonly pollId: number | null
}

/** An import that this process holds. */
export interface HeldImport {
  readonly id: number
  readonly lease: string
}

/** An import that can be accepted now, and its count. */
export interface ClaimedImport extends HeldImport {
  readonly sourceId: number
  readonly channel: Exclude<Channel, "webhook">
  readonly history: boolean
  readonly staged: number
  readonly accepted: number
}

/** A staged row, which becomes an event. */
export interface StagedRow {
  /** From 0, without gaps. */
  readonly n: number
  readonly empty: boolean
  readonly key: Uint8Array | null
  /** JSON text of the payload. */
  readonly payload: string
}

/** The outcome of reading a file. */
export interface ReadFile {
  readonly staged: number
  readonly refused: number
  readonly doubts: ReadonlyArray<Doubt>
}

/** Another process holds the import now, or it has ended. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", { importId: Schema.Int }) {}

type Held<A> = Effect.Effect<A, LeaseLost | StoreUnavailable>

export class ImportStore extends Context.Service<
  ImportStore,
  {
    /** Returns the import, held; or the earlier import of the same file. */
    readonly begin: (
      wanted: NewImport,
    ) => Effect.Effect<{ readonly held: HeldImport } | { readonly same: ImportStatus }, StoreUnavailable>
    /** The import of the same bytes into the source that is done or in progress. */
    readonly same: (
      sourceId: number,
      sha256: Uint8Array,
    ) => Effect.Effect<Option.Option<ImportStatus>, StoreUnavailable>
    readonly stage: (held: HeldImport, rows: ReadonlyArray<StagedRow>) => Held<void>
    /** Staging is complete: from here on the import will be accepted, even if this process is lost. */
    readonly seal: (held: HeldImport, read: ReadFile) => Held<void>
    /** Stops accepting the import and deletes its staged rows; a poll will treat their items as new again. */
    readonly fail: (held: HeldImport, failure: string) => Held<void>
    /**
     * Claims an import that no process holds: the next one, or this one. Imports of one source are accepted in the order of
     * their numbers: none is returned before the earlier ones of its source are done, and a claim for this one returns the
     * earlier one instead.
     */
    readonly claim: (id: number | null) => Effect.Effect<Option.Option<ClaimedImport>, StoreUnavailable>
    /** Rows from `first` on: at most `rows` of them, and no more once they have about 524,288 bytes. */
    readonly slice: (
      held: HeldImport,
      first: number,
      rows: number,
    ) => Effect.Effect<ReadonlyArray<StagedRow>, StoreUnavailable>
    /** Extends the lease and returns the count. */
    readonly renew: (held: HeldImport) => Held<number>
    /** Releases the import, with the reason why it waits; it can be claimed again after some seconds. */
    readonly release: (held: HeldImport, why: string | null) => Held<void>
    /** Every row is accepted: deletes the staged rows. */
    readonly finish: (held: HeldImport) => Held<void>
    /**
     * Ends an import as failed, whichever process holds it. The holder accepts no further row, and a poll treats the items
     * that are not events as new again. Marks an import that had failed before. `done`: all rows are accepted, so nothing was
     * cancelled.
     */
    readonly cancel: (id: number) => Effect.Effect<"cancelled" | "done" | "missing", StoreUnavailable>
    readonly status: (id: number) => Effect.Effect<Option.Option<ImportStatus>, StoreUnavailable>
    /** Newest first. */
    readonly list: (limit: number) => Effect.Effect<ReadonlyArray<ImportStatus>, StoreUnavailable>
    /** Fails imports that a lost process was staging, and deletes the staged rows of ended imports. */
    readonly sweep: Effect.Effect<number, StoreUnavailable>
  }
>()("@data-cabinet/core/file/ImportStore") {}

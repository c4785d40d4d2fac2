/** Builds, lists and drops indexes of columns. `ColumnIndexes` decides which columns an index has, and its kind. */
import * as Shape from "../json/Shape.ts"
import { Context, Data, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

/** `btree` serves filters, ranges and sorts; `hash` serves filters by `eq`, for values of any length. */
export type IndexMethod = "btree" | "hash"

/** An index that was created for columns. */
export interface ColumnIndex {
  readonly name: string
  /** In order; a btree's include the trailing ones that order equal values. */
  readonly columns: ReadonlyArray<string>
  readonly method: IndexMethod
  /** False while it is being built, and after an interrupted build. */
  readonly valid: boolean
  readonly bytes: number
  /** How often PostgreSQL has used it. */
  readonly scans: number
  /** The progress of a running build, from 0 to 1; null if none is running. */
  readonly progress: number | null
}

/** The members of every index's JSON. */
export const indexFigures: Shape.Members<Pick<ColumnIndex, "valid" | "bytes" | "scans" | "progress">> = {
  valid: Shape.flag("False while it is being built, and of what an interrupted build left."),
  bytes: Shape.whole("Its size."),
  scans: Shape.whole("How often the database has used it."),
  progress: Shape.leaf({
    type: ["number", "null"],
    description: "How much of a build under way is done, from 0 to 1; null if none is.",
  }),
}

/** The JSON members that describe what an index of columns covers. */
export const indexedMembers: Shape.Members<Pick<ColumnIndex, "columns" | "method">> = {
  columns: Shape.list(Shape.text(), "Its columns in order, those of the primary key last."),
  method: Shape.oneOf(
    ["btree", "hash"],
    "`btree` serves filters, ranges and sorts; `hash`, for text and jsonb, filters by `eq`.",
  ),
}

/** An index as the APIs show it. */
export const columnIndexShape = Shape.named(
  "ColumnIndex",
  Shape.object<ColumnIndex>("An index of columns.", {
    name: Shape.text("Its name."),
    ...indexedMembers,
    ...indexFigures,
  }),
)

/** An index to be built. */
export interface ColumnIndexToBuild {
  readonly oid: number
  readonly schema: string
  readonly table: string
  readonly columns: ReadonlyArray<string>
  readonly method: IndexMethod
  /** Remains of interrupted builds of the same index, to be dropped first. */
  readonly replaced: ReadonlyArray<string>
}

/** `detail` is PostgreSQL's own message. */
export class IndexFailed extends Data.TaggedError("IndexFailed")<{ readonly detail: string }> {}

export class ColumnIndexStore extends Context.Service<
  ColumnIndexStore,
  {
    readonly list: (oid: number) => Effect.Effect<ReadonlyArray<ColumnIndex>, StoreUnavailable>
    /** The name of a ready index, of any owner, that begins with these columns; null without one. */
    readonly serving: (
      oid: number,
      columns: ReadonlyArray<string>,
      method: IndexMethod,
    ) => Effect.Effect<string | null, StoreUnavailable>
    /** Builds the index without a time limit and without blocking writers; returns its name. */
    readonly build: (index: ColumnIndexToBuild) => Effect.Effect<string, IndexFailed | StoreUnavailable>
    readonly drop: (schema: string, names: ReadonlyArray<string>) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/row/ColumnIndexStore") {}

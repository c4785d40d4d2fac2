/** Writes and creates views of the latest rows. `LatestViews` decides the key and the order. */
import { Context, Data, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"

interface ObjectName {
  readonly schema: string
  readonly name: string
}

/** The view to create. */
export interface LatestViewPlan {
  readonly of: ObjectName
  /** At least one column; rows in which all of them are empty are left out. */
  readonly keys: ReadonlyArray<string>
  /**
   * The columns that decide which row is later, most significant first; nullable ones are compared by their values
   * alone.
   */
  readonly order: ReadonlyArray<{ readonly column: string; readonly mayBeEmpty: boolean }>
  readonly view: ObjectName
  readonly replace: boolean
}

/** `no_author`: no role may create views. `view_failed`: PostgreSQL refused, and `detail` is its own message. */
export class ViewFailed extends Data.TaggedError("ViewFailed")<{
  readonly code: "no_author" | "view_failed"
  readonly detail: string
}> {}

export class LatestViewStore extends Context.Service<
  LatestViewStore,
  {
    readonly statement: (plan: LatestViewPlan) => string
    /** Creates the view as the author, within a time limit; creates nothing unless the view can be read. */
    readonly create: (plan: LatestViewPlan) => Effect.Effect<void, ViewFailed | StoreUnavailable>
  }
>()("@data-cabinet/core/row/LatestViewStore") {}

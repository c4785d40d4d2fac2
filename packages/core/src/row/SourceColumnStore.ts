/**
 * Stores the columns of sources' tables. It decides nothing: labels have been checked, and the caller decides inside
 * the changing transaction whether and how a column gets another type.
 */
import * as Shape from "../json/Shape.ts"
import { Context, Data, type Effect, type Option, type Result } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { COLUMN_KINDS, type ColumnKind, type FieldColumn } from "./FieldColumn.ts"
import type { Notation } from "./Notation.ts"
import type { TableLayout } from "./RowPlan.ts"

/** A column as shown to the cabinet's owner. */
export interface SourceColumn {
  readonly name: string
  readonly field: string
  readonly label: string
  readonly type: ColumnKind
  /** The event that created it; null until that is recorded. */
  readonly eventId: number | null
  readonly createdAt: string
}

/** The members of a column's JSON. */
export const columnMembers: Shape.Members<SourceColumn> = {
  name: Shape.text("The name in the database."),
  field: Shape.text("The field whose values it takes."),
  label: Shape.text("The label shown on screen."),
  type: Shape.oneOf(COLUMN_KINDS),
  eventId: Shape.orNull(Shape.id("The event that created the column.")),
  createdAt: Shape.time("When it was created."),
}

/** The column's JSON and its description. */
export const sourceColumnShape = Shape.named(
  "SourceColumn",
  Shape.object<SourceColumn>("A column of a source's table.", columnMembers),
)

/** The new type of a column, and how its values are written; by default as JSON writes them. */
export interface NewType {
  readonly type: ColumnKind
  readonly notation: Notation
}

/** The result of changing a column's type. */
export interface RetypeResult {
  readonly column: SourceColumn
  /** How many values the new type could not hold and were moved to the sibling column, which `sibling` names. */
  readonly moved: number
  readonly sibling: string | null
  /** The views that were recreated, as `schema.name`. */
  readonly views: ReadonlyArray<string>
}

/** The effects that a change of type would have. */
export interface RetypeTrial {
  /** How many values the new type cannot hold; null if they could not be counted in time. */
  readonly misfits: number | null
  /** The first of them, cut if long; also empty if none was found in time. */
  readonly examples: ReadonlyArray<{ readonly eventId: number; readonly value: string }>
  /** The column that they would move to; null if every value fits. */
  readonly sibling: string | null
  /** The views that would be recreated, as `schema.name`. */
  readonly views: ReadonlyArray<string>
}

/** The trial's JSON and its description. */
export const retypeTrialShape = Shape.named(
  "RetypeTrial",
  Shape.object<RetypeTrial>("What a change of a column's type would do.", {
    misfits: Shape.orNull(
      Shape.leaf<number>({ type: "integer" }),
      "How many values would move; null if they are too many to count in time.",
    ),
    examples: Shape.list(
      Shape.object<RetypeTrial["examples"][number]>("A value that would move.", {
        eventId: Shape.whole("The event of the row."),
        value: Shape.text("The value, cut after 200 characters."),
      }),
      "The first of them, at most 20.",
    ),
    sibling: Shape.orNull(Shape.text("The column that they would move to.")),
    views: Shape.list(Shape.text(), "The views that would be recreated."),
  }),
)

/** A source's table: its name, null once it was dropped, and its columns. */
export interface ColumnTable {
  readonly name: string | null
  readonly layout: TableLayout
}

/** A view that must not be recreated, and why. */
export type ViewObstacle =
  | { readonly view: string; readonly is: "recursive" | "rule" }
  /** It would run with the cabinet's rights, and uses `part`, which others can change. */
  | { readonly view: string; readonly is: "trusted"; readonly part: string }

/** The dependents of a column: views as `schema.name`, other objects as PostgreSQL describes them. */
export interface ColumnDependents {
  readonly views: ReadonlyArray<string>
  readonly obstacle: ViewObstacle | null
  readonly objects: ReadonlyArray<string>
}

/** A column that takes the values that the new type cannot hold. */
export interface SiblingColumn {
  readonly name: string
  /** It does not exist yet, and is created with type text. */
  readonly isNew: boolean
}

/**
 * The decisions of a retype, each a function of facts that the store has read and locked; a failure rolls everything
 * back.
 */
export interface RetypeDecisions<E> {
  /**
   * Returns the column to change, or null if it already has the type; receives undefined if the source does not exist.
   */
  readonly column: (table: ColumnTable | undefined) => Result.Result<FieldColumn | null, E>
  readonly dependents: (found: ColumnDependents) => Result.Result<void, E>
  readonly sibling: (layout: TableLayout, column: FieldColumn) => SiblingColumn
}

/** Why the database did not carry out the decision; nothing was changed. `detail` is PostgreSQL's own message. */
export class NotRetyped extends Data.TaggedError("NotRetyped")<{
  readonly fact:
    | { readonly is: "depended_on"; readonly detail: string }
    | { readonly is: "view_failed"; readonly detail: string }
    /** Recreating the views took longer than this. */
    | { readonly is: "slow"; readonly seconds: number }
    /** The table, or a view on it, could not be locked within this time. */
    | { readonly is: "busy"; readonly seconds: number }
}> {}

/** Obstacles to dropping a column. */
export interface ColumnUse {
  readonly filled: boolean
  /** As `schema.name`. */
  readonly views: ReadonlyArray<string>
  /** As PostgreSQL describes them; indexes, constraints and statistics separate from the others. */
  readonly objects: ReadonlyArray<string>
  readonly indexes: ReadonlyArray<string>
  /** The saved views of the table, whether they use the column or not. */
  readonly savedViews: ReadonlyArray<{ readonly title: string; readonly query: string }>
  /** How many columns the table has ever had. */
  readonly numbered: number
}

/** The decisions of a drop, each a function of facts that the store has read; a failure changes nothing. */
export interface DropDecisions<E> {
  readonly column: (table: ColumnTable | undefined) => Result.Result<void, E>
  readonly use: (use: ColumnUse) => Result.Result<void, E>
}

export class SourceColumnStore extends Context.Service<
  SourceColumnStore,
  {
    /** The name of a source's table, null once it was dropped, and its columns; none if the source does not exist. */
    readonly list: (
      sourceId: number,
    ) => Effect.Effect<
      Option.Option<{ readonly table: string | null; readonly columns: ReadonlyArray<SourceColumn> }>,
      StoreUnavailable
    >
    /** None if the column does not exist. */
    readonly relabel: (
      sourceId: number,
      column: string,
      label: string,
    ) => Effect.Effect<Option.Option<SourceColumn>, StoreUnavailable>
    /**
     * Changes a column's type in one transaction. Converts the values whose text represents a value of the new type
     * exactly, moves the others to the sibling, and recreates the views that depend on the column.
     */
    readonly retype: <E>(
      sourceId: number,
      column: string,
      to: NewType,
      decide: RetypeDecisions<E>,
    ) => Effect.Effect<RetypeResult, E | NotRetyped | StoreUnavailable>
    /** Reports what `retype` would do, in a transaction that only reads and blocks no session, within a few seconds. */
    readonly tryRetype: <E>(
      sourceId: number,
      column: string,
      to: NewType,
      decide: RetypeDecisions<E>,
    ) => Effect.Effect<RetypeTrial, E | NotRetyped | StoreUnavailable>
    /**
     * Drops a column. The facts for the decisions are read first without a lock, and again under locks held for one
     * scan of the table. Rows of that time are written afterwards.
     */
    readonly drop: <E>(
      sourceId: number,
      column: string,
      decide: DropDecisions<E>,
    ) => Effect.Effect<SourceColumn, E | NotRetyped | StoreUnavailable>
  }
>()("@data-cabinet/core/row/SourceColumnStore") {}

/**
 * Decides whether and how a column gets another type, from the store's facts: the column exists, all dependents can be
 * recreated, and a sibling takes the values that the new type cannot hold.
 *
 * Decision: docs/decisions/0002-careful-changes-to-tables.md
 */
import { Result } from "effect"
import { ColumnError } from "./ColumnError.ts"
import type { ColumnKind, FieldColumn } from "./FieldColumn.ts"
import { readableName } from "./ReadableName.ts"
import { nameColumns, type TableLayout } from "./RowPlan.ts"
import { refusedNotation } from "./Notation.ts"
import type {
  ColumnTable,
  NewType,
  NotRetyped,
  RetypeDecisions,
  SiblingColumn,
  ViewObstacle,
} from "./SourceColumnStore.ts"

/** The error for a source that does not exist. */
export const noSuchSource = (sourceId: number) =>
  new ColumnError({ code: "no_such_source", message: `Source ${sourceId} does not exist.` })

/** The error for a source whose table was dropped. */
export const noTable = (sourceId: number) =>
  new ColumnError({ code: "no_table", message: `Source ${sourceId} has no table: it was dropped.` })

/** `columns`: the names of the table's columns. */
export const noSuchColumn = (table: string, column: string, columns: ReadonlyArray<string>) =>
  new ColumnError({
    code: "no_such_column",
    message: `Table sources.${table} has no field column "${column}". It has: ${columns.join(", ") || "none yet"}.`,
  })

const inTheWay = (column: string, objects: string) =>
  new ColumnError({
    code: "objects_depend",
    message: `The type of column "${column}" cannot be changed, because objects that cannot be recreated depend on it: ${objects}. Nothing was changed. Drop them first, and create them again afterwards.`,
  })

const viewsDepend = (message: string) => new ColumnError({ code: "views_depend", message })

const obstacleInWords = (obstacle: ViewObstacle): string => {
  switch (obstacle.is) {
    case "recursive":
      return `${obstacle.view} is recursive, or reads a recursive view`
    case "rule":
      return `${obstacle.view} is not a view, but has a rule that reads the column`
    case "trusted":
      return `${obstacle.view} belongs to the cabinet's own database user, and uses an object that other roles can change: ${obstacle.part}`
  }
}

/**
 * The column for values that the new type cannot hold: the text column that its field has, or a new one. The changed
 * column comes first in its field, so later values that do not fit also go to the sibling.
 */
export const siblingOf = (layout: TableLayout, column: FieldColumn): SiblingColumn => {
  const { field, name } = column
  const known = layout.of(field).find((each) => each.kind === "text" && each.name !== name)
  if (known !== undefined) return { name: known.name, isNew: false }
  const [created] = nameColumns(layout, [{ field, kind: "text" }], [name])
  if (created !== undefined) return { name: created.name, isNew: true }
  // Senders may not exceed the limit of columns, but an owner's change may.
  const taken = new Set(layout.columns.map((each) => each.name))
  return { name: readableName(`${name.slice(0, 50)}_text`, taken, "field"), isNew: true }
}

/** `withViews`: views that depend on the column may be recreated. */
export const retypeDecisions = (
  sourceId: number,
  name: string,
  to: NewType,
  withViews: boolean,
): RetypeDecisions<ColumnError> => ({
  column: (table: ColumnTable | undefined) => {
    if (table === undefined) return Result.fail(noSuchSource(sourceId))
    if (table.name === null) return Result.fail(noTable(sourceId))
    const { columns } = table.layout
    const column = columns.find((each) => each.name === name)
    if (column !== undefined) {
      const refused = refusedNotation(column.kind, to.type, to.notation)
      if (refused !== undefined) return Result.fail(new ColumnError({ code: "bad_notation", message: refused }))
      return Result.succeed(column.kind === to.type ? null : column)
    }
    const names = columns.map((each) => each.name)
    return Result.fail(noSuchColumn(table.name, name, names))
  },
  dependents: ({ views, obstacle, objects }) => {
    if (views.length > 0 && !withViews) {
      const message = `Views depend on column "${name}": ${views.join(", ")}. They are recreated only if that is requested; otherwise, drop them first.`
      return Result.fail(viewsDepend(message))
    }
    if (obstacle !== null) {
      const message = `A view that depends on column "${name}" cannot be recreated, so nothing was changed: ${obstacleInWords(obstacle)}. Drop it first, and create it again afterwards.`
      return Result.fail(viewsDepend(message))
    }
    return objects.length > 0 ? Result.fail(inTheWay(name, objects.join(", "))) : Result.succeed(undefined)
  },
  sibling: siblingOf,
})

/** Explains why the database did not carry out the decision. */
export const notRetyped = (name: string, type: ColumnKind, { fact }: NotRetyped): ColumnError => {
  switch (fact.is) {
    case "depended_on":
      return inTheWay(name, `(${fact.detail})`)
    case "view_failed":
      return viewsDepend(
        `A view that depends on column "${name}" does not work with type ${type}, so nothing was changed: ${fact.detail}. Drop it first, or write it for the new type.`,
      )
    case "slow":
      return new ColumnError({
        code: "views_slow",
        message: `Recreating the views that depend on column "${name}" took longer than ${fact.seconds} seconds, during which the table is locked, so nothing was changed. Drop those that are slow to recreate (materialized views, and views that call slow functions), and create them again afterwards.`,
      })
    case "busy":
      return new ColumnError({
        code: "table_busy",
        message: `The table, or a view that depends on it, is in use and could not be locked within ${fact.seconds} seconds. Try again at a quieter moment.`,
      })
  }
}

/** A table or view as clients see it. */
import * as Shape from "../json/Shape.ts"

/** Readers see partitioned and foreign tables as tables. */
export type TableKind = "table" | "view" | "matview"

/** A readable object, as listed. */
export interface Table {
  readonly schema: string
  readonly name: string
  readonly kind: TableKind
  /** The source whose rows these are; null for a customer's own object. */
  readonly source: { readonly id: number; readonly name: string } | null
  readonly comment: string | null
  /** From the database's statistics; null for a view. */
  readonly rows_estimate: number | null
}

/** A column of a table or view. */
export interface Column {
  /** The name in the database: selections refer to it, and it is the key in a row. */
  readonly name: string
  /** The database's name of the type, such as `timestamp with time zone`. */
  readonly type: string
  /** The displayed name: for a source's column the field's name as sent, otherwise the column's name. */
  readonly label: string
  readonly comment: string | null
}

/** An object with everything that a reader may know about it. */
export interface TableDetail extends Table {
  readonly columns: ReadonlyArray<Column>
  /** The names of the primary key's columns, in the key's order; empty without one. */
  readonly key: ReadonlyArray<string>
  /** The query of a view or materialized view. */
  readonly definition: string | null
}

/** The source that something belongs to. */
export const sourceRefShape = Shape.object<NonNullable<Table["source"]>>("The source that received it.", {
  id: Shape.id("The source's id."),
  name: Shape.text("The source's name."),
})

const tableMembers: Shape.Members<Table> = {
  schema: Shape.leaf<string>({
    type: "string",
    description: "`sources` for the tables of sources; `public` or another schema for the customer's own objects.",
    examples: ["sources"],
  }),
  name: Shape.leaf<string>({ type: "string", examples: ["orders"] }),
  kind: Shape.oneOf(["table", "view", "matview"], "`matview` is a materialized view."),
  source: Shape.eitherOrNull(sourceRefShape, "The source that owns the table; null for the customer's own objects."),
  comment: Shape.orNull(Shape.text("The object's description.")),
  rows_estimate: Shape.orNull(Shape.whole("The database's estimate of the number of rows; null for a view.")),
}

/** The JSON of a table in a list and its description. */
export const tableShape = Shape.named("Table", Shape.object<Table>("A table or view that can be read.", tableMembers))

/** The JSON of a column and its description. */
export const columnShape = Shape.named(
  "Column",
  Shape.object<Column>("A column.", {
    name: Shape.text("The name in the database: used in selections and as the key in rows."),
    type: Shape.leaf<string>({
      type: "string",
      description: "The database's type.",
      examples: ["timestamp with time zone"],
    }),
    label: Shape.text("The label shown on screen; in a source's table the field's own name."),
    comment: Shape.orNull(Shape.text()),
  }),
)

/** The JSON of a table with its columns and its description. */
export const tableDetailShape = Shape.named(
  "TableDetail",
  Shape.object<TableDetail>("A table or view with its columns.", {
    ...tableMembers,
    columns: Shape.list(columnShape),
    key: Shape.list(Shape.text(), "The column names of the primary key; empty without one."),
    definition: Shape.orNull(Shape.text("The query of a view; null for a table.")),
  }),
)

/** The schemas of the management API's responses: facts about tables besides their rows. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { flag, object, text, whole } from "../openapi/SchemaForms.ts"

const INDEX_COLUMNS = {
  type: "array",
  items: { type: "string" },
  description: "Its columns in order, those of the primary key last.",
}

const INDEX_METHOD = {
  enum: ["btree", "hash"],
  description: "`btree` serves filters, ranges and sorts; `hash`, for text and jsonb, filters by `eq`.",
}

const INDEX_FIGURES = {
  valid: flag("False while it is being built, and of what an interrupted build left."),
  bytes: whole("Its size."),
  scans: whole("How often the database has used it."),
  progress: {
    type: ["number", "null"],
    description: "How much of a build under way is done, from 0 to 1; null if none is.",
  },
}

export const TABLE_SCHEMAS = {
  RowCount: object(
    {
      count: whole("How many rows."),
      at_least: flag("Whether there may be more: counting ends at 10,000, or after a second."),
    },
    "How many rows a selection has.",
  ),
  Facets: object(
    {
      column: text("The column."),
      data: {
        type: "array",
        maxItems: 20,
        items: object(
          { value: { description: "As rows have it." }, count: whole("How many rows have it.") },
          "A value.",
        ),
        description: "The most frequent values first.",
      },
      others: whole("How many of the rows have other values."),
      rows: whole("How many rows were looked at: the first of the selection."),
      exact: flag("Whether these are all rows of the selection."),
    },
    "The values that a column has most often.",
  ),
  SearchIndex: object(
    {
      name: text("Its name."),
      complete: flag("Whether it covers all columns: one that lacks a newer column is not used until it is rebuilt."),
      ...INDEX_FIGURES,
    },
    "A search index.",
  ),
  ColumnIndexState: object(
    {
      table: text("The table."),
      index: text("The index."),
      columns: INDEX_COLUMNS,
      method: INDEX_METHOD,
      built: flag("False if an index served the columns already."),
    },
    "The index that serves the columns.",
  ),
  LatestView: object(
    {
      view: text("Its name with its schema."),
      created: flag("False if it was only shown."),
      sql: text("The statement that creates it."),
    },
    "A view of the latest row by key.",
  ),
  SearchIndexState: object(
    { table: text("The table."), index: text("The index."), built: flag("False if there was one already.") },
    "A table's search index.",
  ),
} satisfies Record<string, JsonSchema>

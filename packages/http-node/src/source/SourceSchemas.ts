/** The schemas of the management API's responses: sources and their columns. */
import { COLUMN_KINDS } from "@data-cabinet/core/row/FieldColumn"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { id, object, orNull, text, textOrNull, time, whole } from "../openapi/SchemaForms.ts"

const column = object(
  {
    name: text("The name in the database."),
    field: text("The field whose values it takes."),
    label: text("The label shown on screen."),
    type: { enum: COLUMN_KINDS },
    event_id: orNull(id("The event that created the column.", 1)),
    created_at: time("When it was created."),
  },
  "A column of a source's table.",
)

export const SOURCE_SCHEMAS = {
  SourceColumn: column,
  RetypeResult: object(
    {
      ...(column["properties"] as { readonly [name: string]: JsonSchema }),
      moved: whole("How many values the new type could not hold; they moved to `sibling`."),
      sibling: textOrNull("The column they moved to."),
      views: { type: "array", items: { type: "string" }, description: "The views that were recreated." },
    },
    "A column after its change.",
  ),
  RetypeTrial: object(
    {
      misfits: {
        type: ["integer", "null"],
        description: "How many values would move; null if they are too many to count in time.",
      },
      examples: {
        type: "array",
        items: object(
          { event_id: whole("The event of the row."), value: text("The value, cut after 200 characters.") },
          "A value that would move.",
        ),
        description: "The first of them, at most 20.",
      },
      sibling: textOrNull("The column that they would move to."),
      views: { type: "array", items: { type: "string" }, description: "The views that would be recreated." },
    },
    "What a change of a column's type would do.",
  ),
} satisfies Record<string, JsonSchema>

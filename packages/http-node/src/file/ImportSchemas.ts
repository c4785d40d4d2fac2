/** The schemas of the management API's responses: imports. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { id, object, orNull, text, textOrNull, time, whole } from "../openapi/SchemaForms.ts"

const KEPT = {
  type: "array",
  items: object({ column: text("The column's name."), reason: text("What uses it.") }, "A column that stays."),
  description: "Columns that stay although nothing fills them.",
} satisfies JsonSchema

const NAMES = {
  type: "array",
  items: { type: "string" },
  description: "The columns that are dropped.",
} satisfies JsonSchema

const UNDO = object(
  {
    state: { enum: ["undoing", "undone"] },
    position: whole("How many rows of the file were gone through."),
    events: whole("How many events were moved to the trash."),
    columns: NAMES,
    kept: KEPT,
    started_at: time("When it began."),
    finished_at: orNull(time("When it ended; else null.")),
  },
  "How far the import is undone; else null.",
)

export const IMPORT_SCHEMAS = {
  Import: object(
    {
      id: id("The import's id.", 1),
      source_id: id("The source's id.", 1),
      file: text("The file's name."),
      state: { enum: ["staging", "accepting", "done", "failed"] },
      bytes: whole("The file's size."),
      rows: whole("How many rows it has so far."),
      accepted: whole("How many of them are events."),
      refused: whole("How many were refused."),
      failure: textOrNull("Why it failed or waits; else null."),
      created_at: time("When it began."),
      finished_at: orNull(time("When it ended; else null.")),
      undo: orNull(UNDO),
    },
    "An imported file, or the new items of a poll.",
  ),
  UndoPreview: object(
    {
      import_id: id("The import's id.", 1),
      events: whole("How many events would move to the trash."),
      in_trash: whole("How many of its events are there already."),
      rows: whole("How many rows would be deleted."),
      columns: NAMES,
      kept: KEPT,
      deliveries: whole("How many deliveries of these events were made, which stay made."),
    },
    "What undoing an import would do.",
  ),
} satisfies Record<string, JsonSchema>

/** The schemas of the management API's responses: imports. */
import type { JsonSchema } from "../api/Endpoint.ts"
import { id, object, orNull, text, textOrNull, time, whole } from "../openapi/SchemaForms.ts"

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
    },
    "An imported file, or the new items of a poll.",
  ),
} satisfies Record<string, JsonSchema>

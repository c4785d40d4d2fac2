/** The schemas of the management API's responses: events that were read again in another charset. */
import { REREAD_REASONS } from "@data-cabinet/core/event/RereadError"
import { REREAD_OUTCOMES } from "@data-cabinet/core/event/Rereading"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { id, object, text, textOrNull, whole } from "../openapi/SchemaForms.ts"

const EXAMPLE = {
  oneOf: [
    object(
      {
        event: id("The event's number.", 10417),
        values: {
          type: "array",
          items: object(
            {
              field: text("The field's name as it reads now."),
              field_before: textOrNull("Its name before; null if it is the same."),
              before: text("The value before: the first 200 characters."),
              after: text("The value as it reads now: the first 200 characters."),
            },
            "A value that reads differently now.",
          ),
          description: "The first of them.",
        },
        more: whole("How many more values change."),
      },
      "An event that changes.",
    ),
    { type: "null" },
  ],
  description: "The first event that changes; null if none does.",
} satisfies JsonSchema

const VERDICTS = {
  verdicts: {
    type: "array",
    items: object(
      {
        id: id("The event's number.", 10417),
        outcome: {
          enum: REREAD_OUTCOMES,
          description:
            "`changed`: it reads differently now; `unchanged`: it reads as before; `refused`: it cannot be read again.",
        },
        reason: {
          enum: [...REREAD_REASONS, null],
          description: "Why it cannot be read again; null if it can.",
        },
        replaced: whole("How many characters have no meaning in the charset, and are U+FFFD."),
      },
      "The outcome for an event.",
    ),
  },
  example: EXAMPLE,
  deliveries: whole("How many deliveries that makes due."),
} satisfies Record<string, JsonSchema>

export const REREAD_SCHEMAS = {
  RereadVerdicts: object(VERDICTS, "The outcome of a rereading."),
  RereadPage: object(
    {
      ...VERDICTS,
      seen: whole("How many events were examined."),
      next_cursor: textOrNull("Where the next page begins; null on the last one."),
    },
    "The outcome of a rereading, page by page.",
  ),
} satisfies Record<string, JsonSchema>

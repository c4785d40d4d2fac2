/** The schemas of the management API's responses: the diagnostics. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { object, text } from "../openapi/SchemaForms.ts"

export const DIAGNOSTICS_SCHEMAS = {
  AuthorSchema: object(
    { name: text("Its name."), author: text("The role that owns it, as which `cabinet sql` runs.") },
    "A schema of the database, for the author's tables and views.",
  ),
  Diagnostics: object(
    {
      findings: {
        type: "array",
        items: object(
          {
            check: text("What was checked."),
            level: { enum: ["ok", "warn", "bad"], description: "`bad` needs attention now, `warn` soon." },
            message: text("The finding, and its remedy."),
          },
          "A finding.",
        ),
        description: "The finding, in words.",
      },
      database: { type: "object", additionalProperties: true, description: "What `cabinet doctor` measures." },
      deliveries: { type: "object", additionalProperties: true, description: "The state of the delivery queue." },
    },
    "The state of the database and of the deliveries.",
  ),
} satisfies Record<string, JsonSchema>

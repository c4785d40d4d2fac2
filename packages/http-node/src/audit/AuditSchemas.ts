/** The schemas of the management API's responses: the audit log. */
import { ROLES } from "@data-cabinet/core/key/Role"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { id, object, orNull, text, textOrNull, time } from "../openapi/SchemaForms.ts"

export const actor = (description: string) =>
  object(
    {
      kind: { enum: ["person", "token", "cli", "program"] },
      id: orNull(id("Of the person or the token.", 1)),
      name: text("The name."),
    },
    description,
  )

export const AUDIT_SCHEMAS = {
  AuditEntry: object(
    {
      id: id("The entry's id.", 1),
      at: time("When it began."),
      actor: actor("Who did it."),
      role: { enum: ROLES },
      client: textOrNull("The client's address."),
      request_id: textOrNull("The request's id."),
      action: text("What was done, such as `source.create`."),
      object: textOrNull("What it was done to, such as `source 5`."),
      changes: { type: "object", additionalProperties: true, description: "The requested changes, without secrets." },
      ended_at: orNull(time("When it ended; null while it is open.")),
      outcome: textOrNull("`done`, or the code of the error; null while it is open."),
    },
    "An entry of the audit log.",
  ),
} satisfies Record<string, JsonSchema>

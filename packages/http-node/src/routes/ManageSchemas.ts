/** The schemas of the management API's responses. Schemas shared with the read API keep their name and shape. */
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { SCHEMAS } from "../openapi/Schemas.ts"
import { MANAGE_CODES, MANAGE_TYPES } from "../manage/ManageCode.ts"
import { flag, object, text, textOrNull, whole } from "../openapi/SchemaForms.ts"
import { SOURCE_SCHEMAS } from "../source/SourceSchemas.ts"
import { TABLE_SCHEMAS } from "../row/TableSchemas.ts"
import { EVENT_SCHEMAS } from "../event/EventSchemas.ts"
import { REREAD_SCHEMAS } from "../event/RereadSchemas.ts"
import { ACTIVITY_SCHEMAS } from "../activity/ActivitySchemas.ts"
import { DIAGNOSTICS_SCHEMAS } from "../diagnostics/DiagnosticsSchemas.ts"
import { LATE_VERIFICATION_SCHEMAS } from "../verification/LateVerificationSchemas.ts"

export const manageRef = (name: keyof typeof MANAGE_SCHEMAS): JsonSchema => ({ $ref: `#/components/schemas/${name}` })

export const MANAGE_SCHEMAS = {
  ...SCHEMAS,
  Error: object(
    {
      error: object(
        {
          type: { enum: MANAGE_TYPES },
          code: { enum: Object.keys(MANAGE_CODES) },
          message: text("What was expected, in words."),
          param: textOrNull("The query parameter or path segment, or a JSON pointer into the body."),
        },
        "What is wrong.",
      ),
    },
    "The form of every error.",
  ),
  Cabinet: object(
    {
      version: text("The version of its server."),
      base_url: text("The base address of its links, without a trailing slash."),
      base_url_known: flag("False if it is not set, but only the server's listening address."),
    },
    "A cabinet.",
  ),
  Count: object({ count: whole("How many.") }, "The number of objects that were affected."),
  ...SOURCE_SCHEMAS,
  ...TABLE_SCHEMAS,
  ...EVENT_SCHEMAS,
  ...LATE_VERIFICATION_SCHEMAS,
  ...REREAD_SCHEMAS,
  ...ACTIVITY_SCHEMAS,
  ...DIAGNOSTICS_SCHEMAS,
} satisfies Record<string, JsonSchema>

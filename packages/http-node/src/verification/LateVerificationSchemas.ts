/** The schemas of the management API's responses: verifications of stored events. */
import { UNCHECKED_REASONS } from "@data-cabinet/core/verification/LateCheck"
import { LATE_OUTCOMES } from "@data-cabinet/core/verification/LateVerification"
import { REFUSAL_REASONS } from "@data-cabinet/core/verification/VerifySender"
import type { JsonSchema } from "@data-cabinet/core/json/Shape"
import { id, object, textOrNull, whole } from "../openapi/SchemaForms.ts"

const VERDICTS = {
  verdicts: {
    type: "array",
    items: object(
      {
        id: id("The event's number.", 10417),
        outcome: {
          enum: LATE_OUTCOMES,
          description:
            "`verified`: newly proven to come from its sender; `was_verified`: known before; `refused`: its signature does not match; `unchecked`: it cannot be checked.",
        },
        reason: {
          enum: [...REFUSAL_REASONS, ...UNCHECKED_REASONS, null],
          description: "Why it is not verified; null if it is.",
        },
      },
      "The outcome for an event.",
    ),
  },
  deliveries: whole("How many deliveries were created."),
} satisfies Record<string, JsonSchema>

export const LATE_VERIFICATION_SCHEMAS = {
  LateVerdicts: object(VERDICTS, "The outcome of a verification."),
  LatePage: object(
    {
      ...VERDICTS,
      seen: whole("How many events were examined."),
      next_cursor: textOrNull("Where the next page begins; null on the last one."),
    },
    "The outcome of a verification, page by page.",
  ),
} satisfies Record<string, JsonSchema>

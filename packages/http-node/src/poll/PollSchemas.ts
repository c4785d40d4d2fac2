/** The schemas of the management API's responses: polls and their runs. */
import { Poll, PollRun, PollTrial } from "@data-cabinet/core/poll/Poll"
import type { JsonSchema } from "../api/Endpoint.ts"
import { schemaOf } from "../openapi/SchemaForms.ts"

export const POLL_SCHEMAS = {
  Poll: schemaOf(Poll),
  PollRun: schemaOf(PollRun),
  PollTrial: schemaOf(PollTrial),
} satisfies Record<string, JsonSchema>

/** Sends an event by which the owner tries a source. It is accepted like any other, and is an act in the audit log. */
import { Effect } from "effect"
import type { AuditLog } from "../audit/AuditLog.ts"
import { managed } from "../audit/Managed.ts"
import type { Intake } from "./Intake.ts"
import type { IntakeError } from "./IntakeError.ts"
import type { SourceError } from "../source/SourceError.ts"
import { noSuchSource } from "../source/Sources.ts"

/** The most field names in an audit entry. */
const MAX_LISTED_FIELDS = 100

export const sendTestEvent = (
  { intake, audit }: { readonly intake: Intake["Service"]; readonly audit: AuditLog["Service"] },
  sourceId: number,
  fields: Readonly<Record<string, unknown>>,
) => {
  const changes = { fields: Object.keys(fields).slice(0, MAX_LISTED_FIELDS) }
  const act = { action: "source.test_event", object: `source ${sourceId}`, changes }
  return Effect.catchTag(
    managed(audit, act, intake.accept(sourceId, fields)),
    "IntakeError",
    (error): Effect.Effect<never, IntakeError | SourceError> =>
      error.code === "not_found" ? noSuchSource(sourceId) : Effect.fail(error),
  )
}

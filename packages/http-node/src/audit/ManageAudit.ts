/** The audit log over the management API. */
import { auditEntryShape, AuditLog } from "@data-cabinet/core/audit/AuditLog"
import { Effect } from "effect"
import { list, pageOf } from "../manage/ManageResponses.ts"
import { manageEndpoint } from "../manage/ManageEndpoint.ts"
import { beforeIdParameter, limitParameter, textParameter } from "../manage/ManageParameters.ts"

export const manageAudit = Effect.gen(function* () {
  const log = yield* AuditLog
  return [
    manageEndpoint({
      id: "listAudit",
      tag: "Audit",
      method: "GET",
      path: "/manage/v1/audit",
      summary: "The audit log",
      description:
        "Newest first. An entry without an `outcome` belongs to an act in progress, or to a process that was killed. For the next page send `next_cursor` as `before`.",
      action: "audit.read",
      parameters: [
        limitParameter,
        beforeIdParameter,
        textParameter("action", "Only this action, such as `source.create`."),
        textParameter("object", "Only what was done to this, such as `source 5`."),
        textParameter("who", "Only actions of the person or token with this name."),
      ],
      response: list(auditEntryShape, "The entries."),
      respond: ({ query: { limit = 100, ...query } }) =>
        Effect.map(log.list({ ...query, limit: limit + 1 }), (all) =>
          pageOf(all.map(auditEntryShape.json), limit, ({ id }) => String(id)),
        ),
    }),
  ]
})

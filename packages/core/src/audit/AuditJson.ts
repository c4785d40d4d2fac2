/** Entries of the audit log as JSON. */
import type { AuditEntry } from "./AuditLog.ts"

export const auditJson = ({ actor, ...entry }: AuditEntry) => ({
  id: entry.id,
  at: entry.at,
  actor: { kind: actor.kind, id: actor.id, name: actor.name },
  role: actor.role,
  client: actor.from,
  request_id: actor.requestId,
  action: entry.action,
  object: entry.object,
  changes: entry.changes,
  ended_at: entry.endedAt,
  outcome: entry.outcome,
})

/**
 * The audit log in PostgreSQL, in daily partitions. An intent is committed before the work's own transaction, and so
 * is the outcome of work that was not done; `done` is part of that transaction.
 */
import { type AuditEntry, AuditLog, type AuditQuery, type OpenEntry } from "@data-cabinet/core/audit/AuditLog"
import type { Actor } from "@data-cabinet/core/audit/Actor"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import { StatementClient } from "../connection/OwnerClient.ts"
import { orUnavailable, sqlState } from "../connection/StoreFailure.ts"

const BEGIN = `
  INSERT INTO cabinet.audit (actor_kind, actor_id, actor_name, role, client, request_id, action, object, changes)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id::text AS id, at::text AS at`

const END = `
  UPDATE cabinet.audit SET ended_at = cabinet.now(), outcome = $3, object = coalesce(object, $4)
  WHERE id = $1 AND at = $2::timestamptz`

const LIST = `
  SELECT id::text AS id, cabinet.rfc3339(at) AS at, actor_kind, actor_id::text AS actor_id, actor_name, role, client,
    request_id, action, object, changes, cabinet.rfc3339(ended_at) AS ended_at, outcome
  FROM cabinet.audit a
  WHERE ($2::int8 IS NULL OR id < $2) AND ($3::text IS NULL OR action = $3) AND ($4::text IS NULL OR object = $4)
    AND ($5::text IS NULL OR actor_name = $5)
  ORDER BY a.id DESC LIMIT $1`

/** No partition for this day: the clock was moved, or no process has created any for two weeks. */
const NO_PARTITION = "23514"

interface Row {
  readonly id: string
  readonly at: string
  readonly actor_kind: Actor["kind"]
  readonly actor_id: string | null
  readonly actor_name: string
  readonly role: Actor["role"]
  readonly client: string | null
  readonly request_id: string | null
  readonly action: string
  readonly object: string | null
  readonly changes: AuditEntry["changes"]
  readonly ended_at: string | null
  readonly outcome: string | null
}

const toEntry = (row: Row): AuditEntry => ({
  id: Number(row.id),
  at: row.at,
  actor: {
    kind: row.actor_kind,
    id: row.actor_id === null ? null : Number(row.actor_id),
    name: row.actor_name,
    role: row.role,
    from: row.client,
    requestId: row.request_id,
  },
  action: row.action,
  object: row.object,
  changes: row.changes,
  endedAt: row.ended_at,
  outcome: row.outcome,
})

/** PostgreSQL stores neither U+0000 nor half a surrogate pair; the work itself may yet refuse such text. */
const storable = (text: string): string => text.replaceAll("\0", "\uFFFD").toWellFormed()
const storableJson = (value: unknown): string =>
  JSON.stringify(value, (_, inner: unknown) => (typeof inner === "string" ? storable(inner) : inner))

export const layer = Layer.effect(
  AuditLog,
  Effect.zipWith(PgClient.PgClient, StatementClient, (sql, quick) =>
    AuditLog.of({
      begin: ({ actor, action, object, changes }) => {
        const insert = quick.unsafe<{ readonly id: string; readonly at: string }>(BEGIN, [
          actor.kind,
          actor.id,
          storable(actor.name),
          actor.role,
          actor.from,
          actor.requestId,
          action,
          object === null ? null : storable(object),
          storableJson(changes),
        ])
        return insert.pipe(
          Effect.catchIf(
            (error) => sqlState(error) === NO_PARTITION,
            () => Effect.andThen(quick.unsafe("SELECT cabinet.make_partitions('cabinet.audit', 1)"), insert),
          ),
          Effect.map(([row]): OpenEntry => ({ id: Number(row!.id), at: row!.at })),
          orUnavailable,
        )
      },
      end: ({ id, at }, outcome, object) =>
        orUnavailable(Effect.asVoid((outcome === "done" ? sql : quick).unsafe(END, [id, at, outcome, object]))),
      list: ({ limit, before, action, object, who }: AuditQuery) =>
        orUnavailable(
          Effect.map(
            sql.unsafe<Row>(LIST, [limit, before ?? null, action ?? null, object ?? null, who ?? null]),
            (rows) => rows.map(toEntry),
          ),
        ),
    }),
  ),
)

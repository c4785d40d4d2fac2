/**
 * The log of every act on a cabinet. An act is written before it begins and completed when it has ended: an entry
 * without an outcome is still running, or its process was killed.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { type Role, ROLES } from "../key/Role.ts"
import { type Actor, actorShape, type NamedActor } from "./Actor.ts"

/** The fields that an act sets. Never secrets. */
export type Changes = Readonly<Record<string, unknown>>

/** An act that is about to begin. */
export interface Intent {
  readonly actor: Actor
  /** Such as `source.create`. */
  readonly action: string
  /** Such as `source 5`; null for an object that the act creates. */
  readonly object: string | null
  readonly changes: Changes
}

/** An entry that was begun, to be completed. */
export interface OpenEntry {
  readonly id: number
  readonly at: string
}

/** Times are RFC 3339 in UTC. */
export interface AuditEntry extends Intent {
  readonly id: number
  readonly at: string
  readonly endedAt: string | null
  /** `done`, the code of the error, `interrupted`, `unavailable`, `unknown` or `fault`; null while it is open. */
  readonly outcome: string | null
}

interface ShownEntry extends Omit<AuditEntry, "actor"> {
  readonly actor: NamedActor
  readonly role: Role
  readonly client: string | null
  readonly requestId: string | null
}

/** An audit entry as the APIs show it. */
export const auditEntryShape = Shape.derived(
  ({ actor, ...entry }: AuditEntry): ShownEntry => ({
    ...entry,
    actor,
    role: actor.role,
    client: actor.from,
    requestId: actor.requestId,
  }),
  Shape.named(
    "AuditEntry",
    Shape.object<ShownEntry>("An entry of the audit log.", {
      id: Shape.id("The entry's id."),
      at: Shape.time("When it began."),
      actor: actorShape("Who did it."),
      role: Shape.oneOf(ROLES),
      client: Shape.orNull(Shape.text("The client's address.")),
      requestId: Shape.orNull(Shape.text("The request's id.")),
      action: Shape.text("What was done, such as `source.create`."),
      object: Shape.orNull(Shape.text("What it was done to, such as `source 5`.")),
      changes: Shape.open("The requested changes, without secrets."),
      endedAt: Shape.orNull(Shape.time("When it ended; null while it is open.")),
      outcome: Shape.orNull(Shape.text("`done`, or the code of the error; null while it is open.")),
    }),
  ),
)

/** Which entries to list. */
export interface AuditQuery {
  readonly limit: number
  /** Only entries before this one. */
  readonly before?: number | undefined
  readonly action?: string | undefined
  readonly object?: string | undefined
  /** The actor's name. */
  readonly who?: string | undefined
}

export class AuditLog extends Context.Service<
  AuditLog,
  {
    readonly begin: (intent: Intent) => Effect.Effect<OpenEntry, StoreUnavailable>
    /** `object`: the created object, if it was not known before. */
    readonly end: (entry: OpenEntry, outcome: string, object: string | null) => Effect.Effect<void, StoreUnavailable>
    /** Newest first. */
    readonly list: (query: AuditQuery) => Effect.Effect<ReadonlyArray<AuditEntry>, StoreUnavailable>
  }
>()("@data-cabinet/core/audit/AuditLog") {}

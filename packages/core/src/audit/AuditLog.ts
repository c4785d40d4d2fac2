/**
 * The log of every act on a cabinet. An act is written before it begins and completed when it has ended: an entry
 * without an outcome is still running, or its process was killed.
 */
import { Context, type Effect } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import type { Actor } from "./Actor.ts"

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

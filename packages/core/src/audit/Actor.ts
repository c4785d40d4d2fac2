/**
 * Identifies who acts on a cabinet. Provided by the management API, the upload, the command, or the embedding program.
 */
import { Context } from "effect"
import type { Role } from "../key/Role.ts"

export interface Actor {
  /** `cli`: a user with the database's URL; `program`: the program that embeds the cabinet. */
  readonly kind: "person" | "token" | "cli" | "program"
  /** The id of the person or the token; null for the others. */
  readonly id: number | null
  readonly name: string
  readonly role: Role
  /** The client's address; null without a client. */
  readonly from: string | null
  /** The request's id; null outside a request. */
  readonly requestId: string | null
}

/** Null for the cabinet's own background work. */
export const CurrentActor = Context.Reference<Actor | null>("@data-cabinet/core/audit/CurrentActor", {
  defaultValue: () => null,
})

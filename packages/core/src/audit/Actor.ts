/**
 * Identifies who acts on a cabinet. Provided by the management API, the upload, the command, or the embedding program.
 */
import { Context } from "effect"
import * as Shape from "../json/Shape.ts"
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

/** An actor as others see it. */
export type NamedActor = Pick<Actor, "kind" | "id" | "name">

/** Without the address and the request of its client. */
export const actorShape = (about: string) =>
  Shape.object<NamedActor>(about, {
    kind: Shape.oneOf(["person", "token", "cli", "program"]),
    id: Shape.orNull(Shape.id("Of the person or the token.")),
    name: Shape.text("The name."),
  })

/** Null for the cabinet's own background work. */
export const CurrentActor = Context.Reference<Actor | null>("@data-cabinet/core/audit/CurrentActor", {
  defaultValue: () => null,
})

/** The followers of a cabinet, for its operator: how far each is behind the feed, and why. */
import { Context, Effect, Layer } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import * as Shape from "../json/Shape.ts"
import { type FollowerState, FollowerStore, MOST_BEHIND } from "./FollowerStore.ts"

/** A follower as the APIs show it. */
export const followerShape = Shape.named(
  "Follower",
  Shape.object<FollowerState>("Work behind the feed, and how far it has come.", {
    id: Shape.id("Its id."),
    kind: Shape.text("What it does: `activity` counts events by the hour."),
    name: Shape.text("Its name among those of its kind."),
    eventId: Shape.orNull(Shape.id("The last event whose work is done; null before the first.", 10_417)),
    movedAt: Shape.orNull(Shape.time("When its position last moved; null before the first event.")),
    behind: Shape.whole(`Events whose work is not done, counted up to ${MOST_BEHIND}.`),
    behindSeconds: Shape.leaf<number>({
      type: "number",
      minimum: 0,
      description: "For how many seconds the first of them has waited; 0 without one.",
    }),
    failures: Shape.whole("Failures in a row."),
    error: Shape.orNull(Shape.text("What the last of them was; null without one.")),
    retryAt: Shape.orNull(Shape.time("When the work is tried again after a failure; null without one.")),
    holder: Shape.orNull(Shape.text("The process at work, by host and process id; null between two turns.")),
  }),
)

export class Followers extends Context.Service<
  Followers,
  { readonly list: Effect.Effect<ReadonlyArray<FollowerState>, StoreUnavailable> }
>()("@data-cabinet/core/follower/Followers") {
  static readonly layer = Layer.effect(
    Followers,
    Effect.map(FollowerStore, ({ list }) => Followers.of({ list })),
  )
}

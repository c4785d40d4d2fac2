/** The followers of the feed, for the operator: what each does, how far it has come, and why it does not move. */
import { Context, Effect, Layer, Option, Schema } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { CHANNELS } from "../event/EventLog.ts"
import { feedParams } from "../feed/FeedParams.ts"
import { FEED_START } from "../feed/FeedStore.ts"
import { FeedTailStore } from "../feed/FeedTailStore.ts"
import * as Shape from "../json/Shape.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import { isTimestamp } from "../text/Timestamp.ts"
import type { FollowerFilter } from "./ClientFollower.ts"
import { ClientFollowerStore } from "./ClientFollowerStore.ts"
import { type FollowerState, FollowerStore, MOST_BEHIND } from "./FollowerStore.ts"

/** Refusals of the read API. */
export class ClientFollowerError extends Schema.TaggedError<ClientFollowerError>()("ClientFollowerError", {
  code: Schema.Literals(["bad_follower", "too_many_followers"]),
  message: Schema.String,
  /** The parameter at fault. */
  param: Schema.String,
}) {}

/** Refusals of the operator's acts. */
export class FollowerError extends Schema.TaggedError<FollowerError>()("FollowerError", {
  code: Schema.Literals(["no_such_follower", "bad_start"]),
  message: Schema.String,
}) {}

/** A follower as the APIs show it. */
export const followerShape = Shape.named(
  "Follower",
  Shape.object<FollowerState>("Work behind the feed, and how far it has come.", {
    id: Shape.id("Its id."),
    kind: Shape.text(
      "What it does: `activity` counts events by the hour, `deliveries` writes the deliveries of sources with many addresses, `rebuild` writes a table again, `shapes` learns what payloads look like; a `destination` gets the events as files; a `client` is a program with a key.",
    ),
    name: Shape.text("Its name among those of its kind, or of its key."),
    eventId: Shape.orNull(Shape.id("The last event whose work is done; null before the first.", 10_417)),
    movedAt: Shape.orNull(Shape.time("When its position last moved; null before the first event.")),
    behind: Shape.whole(`Events whose work is not done, counted up to ${MOST_BEHIND}.`),
    behindSeconds: Shape.leaf<number>({
      type: "number",
      minimum: 0,
      description: "For how many seconds the first of them has waited; 0 without one.",
    }),
    failures: Shape.whole("Failures in a row."),
    error: Shape.orNull(Shape.text("The last error; null without one.")),
    retryAt: Shape.orNull(Shape.time("When the work is tried again after a failure; null without one.")),
    paused: Shape.flag("Whether it waits until a person resumes it."),
    holder: Shape.orNull(Shape.text("The process at work, by host and process id; null between two turns.")),
    key: Shape.orNull(Shape.text("The name of the client's key or access token; null for the cabinet's own work.")),
    sourceId: Shape.orNull(Shape.id("The source whose events it reads; null for all.")),
    channel: Shape.orNull(Shape.oneOf(CHANNELS, "The channel whose events it reads; null for all.")),
  }),
)

/** The starts of a reset, in words. */
export const RESET_EXPECTED = "`beginning`, `now`, a time such as 2026-11-21T09:30:00Z, or a cursor of the feed"

const noSuch = (id: number) =>
  new FollowerError({ code: "no_such_follower", message: `No follower of a client has the id ${id}.` })

const badStart = new FollowerError({
  code: "bad_start",
  message: `A follower is reset to ${RESET_EXPECTED} with the follower's source and channel.`,
})

export class Followers extends Context.Service<
  Followers,
  {
    readonly list: Effect.Effect<ReadonlyArray<FollowerState>, StoreUnavailable>
    /** Sets the position of a client's follower: to `beginning`, `now`, a time or a cursor. */
    readonly reset: (id: number, to: string) => Effect.Effect<void, FollowerError | StoreUnavailable>
    /** Forgets a client's follower. A program that still uses the name creates it again when it acknowledges. */
    readonly remove: (id: number) => Effect.Effect<void, FollowerError | StoreUnavailable>
  }
>()("@data-cabinet/core/follower/Followers") {
  static readonly layer = Layer.effect(
    Followers,
    Effect.gen(function* () {
      const { list } = yield* FollowerStore
      const clients = yield* ClientFollowerStore
      const tail = yield* FeedTailStore
      const keys = yield* CursorKeys

      const positionOf = Effect.fnUntraced(function* (filter: FollowerFilter, to: string) {
        if (to === "beginning") return FEED_START
        if (to === "now") return yield* tail.start(filter, "now")
        if (isTimestamp(to)) return yield* tail.start(filter, { time: to })
        const { sourceId, channel } = filter
        const pairs: ReadonlyArray<readonly [string, string]> = [
          ["cursor", to],
          ...(sourceId === null ? [] : [["source_id", String(sourceId)] as const]),
          ...(channel === null ? [] : [["channel", channel] as const]),
        ]
        return (yield* Effect.mapError(feedParams(yield* keys.key, pairs), () => badStart)).after
      })

      return Followers.of({
        list,
        reset: Effect.fnUntraced(function* (id, to) {
          const found = yield* clients.get(id)
          if (Option.isNone(found)) return yield* noSuch(id)
          const position = yield* positionOf(found.value, to)
          if (!(yield* clients.reset(id, position))) return yield* noSuch(id)
        }),
        remove: Effect.fnUntraced(function* (id) {
          if (!(yield* clients.remove(id))) return yield* noSuch(id)
        }),
      })
    }),
  )
}

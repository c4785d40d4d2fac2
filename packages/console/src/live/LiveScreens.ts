/**
 * New events as server-sent events: each message has the feed's cursor as its id, and the number of events, and of rows,
 * since the previous one. A client that reconnects with the last id misses nothing.
 */
import { CHANNELS } from "@data-cabinet/core/event/EventLog"
import { FeedFollower } from "@data-cabinet/core/feed/FeedFollower"
import type { FollowFilter } from "@data-cabinet/core/feed/FeedListener"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import { eventStreams, eventText } from "@data-cabinet/http-node/server/EventStream"
import { Effect } from "effect"
import { idOf } from "../screen/Act.ts"
import type { ConsoleScreen, Pairs } from "../screen/ConsoleScreen.ts"
import { valueOf } from "../screen/SelectionLinks.ts"
import type { Live } from "./LiveLink.ts"

const filterOf = (pairs: Pairs): FollowFilter => ({
  sourceId: idOf(valueOf(pairs, "source_id")) || null,
  channel: CHANNELS.find((one) => one === valueOf(pairs, "channel")) ?? null,
})

/** The cursor from which a list is live; null if the database does not respond: no list waits for it. */
export const liveFrom = Effect.map(
  FeedFollower,
  (follower) =>
    (filter: FollowFilter): Effect.Effect<Live | null> =>
      Effect.match(follower.end(filter), { onSuccess: (cursor) => ({ filter, cursor }), onFailure: () => null }),
)

export const liveScreens = Effect.gen(function* () {
  const follower = yield* FeedFollower
  const streams = yield* eventStreams
  const screens: ReadonlyArray<ConsoleScreen> = [
    {
      path: "/console/live",
      // A program that reads rows may read the feed.
      action: "row.read",
      get: Effect.fnUntraced(function* ({ pairs, request, actor, session, mayStill }) {
        const who = session === null ? `${actor!.kind} ${actor!.id}` : `session ${session.id}`
        const refusal = streams.refusal(who)
        if (refusal !== null) return yield* Effect.fail<ManageError>({ code: "busy", message: refusal })
        const filter = filterOf(pairs)
        const cursor = request.headers["last-event-id"] ?? valueOf(pairs, "cursor") ?? (yield* follower.end(filter))
        const following = yield* follower.follow(filter, cursor)
        const open = Effect.map(following, (next) =>
          Effect.map(next, (came) => eventText(came.cursor, `${came.events} ${came.rows} ${came.more ? 1 : 0}`)),
        )
        return { answer: streams.response(who, open, mayStill) }
      }),
    },
  ]
  return screens
})

/** Positions that the cabinet keeps for clients of the feed, as the read API offers them. */
import { Context, Effect, Layer } from "effect"
import { ERROR_MEANINGS } from "../error/ErrorCode.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { FeedError } from "../feed/FeedError.ts"
import { feedParams, writeCursor } from "../feed/FeedParams.ts"
import { FEED_START } from "../feed/FeedStore.ts"
import * as Shape from "../json/Shape.ts"
import { mayReadSource, type ReadScopeOrAll } from "../key/ReadScope.ts"
import { CursorKeys } from "../pagination/CursorKey.ts"
import {
  FOLLOWER_NAME_EXPECTED,
  type FollowerFilter,
  isFollowerName,
  MAX_CLIENT_FOLLOWERS,
  MAX_FOLLOWERS_OF_KEY,
} from "./ClientFollower.ts"
import { ClientFollowerStore, type FollowerOf } from "./ClientFollowerStore.ts"
import { ClientFollowerError } from "./Followers.ts"

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

/** The response to an acknowledgement. */
export interface AckReceipt {
  readonly follower: string
  readonly cursor: string
  readonly moved: boolean
}

/** The receipt as the read API shows it. */
export const ackReceiptShape = Shape.named(
  "AckReceipt",
  Shape.object<AckReceipt>("Where a follower is after an acknowledgement.", {
    follower: Shape.text("Its name."),
    cursor: Shape.text("Its position."),
    moved: Shape.flag(
      "Whether this acknowledgement moved it. False for one that is behind the position, or of a page read before the position was reset.",
    ),
  }),
)

type Refused = FeedError | ClientFollowerError | StoreUnavailable

const refuse = (message: string, param = "follower") =>
  Effect.fail(new ClientFollowerError({ code: "bad_follower", message, param }))

const FULL = {
  key_full: `A key may have ${MAX_FOLLOWERS_OF_KEY} followers, and this one has them. Remove one with: cabinet follower remove`,
  cabinet_full: `A cabinet may have ${MAX_CLIENT_FOLLOWERS} followers of clients, and this one has them. Remove one with: cabinet follower remove`,
} as const

/** Splits the follower's name off the parameters. */
const named = Effect.fnUntraced(function* (pairs: Pairs) {
  const names = pairs.filter(([name]) => name === "follower").map(([, value]) => value)
  const rest = pairs.filter(([name]) => name !== "follower")
  if (names.length > 1) return yield* refuse("follower may be sent only once.")
  const [name] = names
  if (name !== undefined && !isFollowerName(name)) return yield* refuse(`${FOLLOWER_NAME_EXPECTED}.`)
  return { name, rest }
})

const words = ({ sourceId, channel }: FollowerFilter): string =>
  [
    sourceId === null ? "all sources" : `source ${sourceId}`,
    channel === null ? "any channel" : `channel ${channel}`,
  ].join(" and ")

const checkFilter = (name: string, kept: FollowerFilter, sent: FollowerFilter) =>
  kept.sourceId === sent.sourceId && kept.channel === sent.channel
    ? Effect.void
    : refuse(
        `The follower ${name} reads events of ${words(kept)}. Send the same source_id and channel, or another name.`,
      )

export class ClientFollowers extends Context.Service<
  ClientFollowers,
  {
    /** The parameters with the follower's cursor in place of its name. A name without a position begins with the first event. */
    readonly resolve: (fingerprint: Uint8Array, pairs: Pairs) => Effect.Effect<Pairs, Refused>
    /** Moves a follower to a cursor of the feed. The parameters are `follower`, `cursor`, `source_id` and `channel`. */
    readonly acknowledge: (
      fingerprint: Uint8Array,
      pairs: Pairs,
      scope: ReadScopeOrAll,
    ) => Effect.Effect<AckReceipt, Refused>
  }
>()("@data-cabinet/core/follower/ClientFollowers") {
  static readonly layer = Layer.effect(
    ClientFollowers,
    Effect.gen(function* () {
      const store = yield* ClientFollowerStore
      const keys = yield* CursorKeys

      const resolve = Effect.fnUntraced(function* (fingerprint: Uint8Array, pairs: Pairs) {
        const { name, rest } = yield* named(pairs)
        if (name === undefined) return rest
        if (rest.some(([other]) => other === "cursor")) {
          return yield* refuse("Send follower or cursor, not both: a follower has its own position.")
        }
        const key = yield* keys.key
        const { sourceId, channel } = yield* feedParams(key, rest)
        // The page reports the unknown source.
        if (sourceId === "unknown") return rest
        const kept = yield* store.find({ fingerprint, name })
        if (kept !== null) yield* checkFilter(name, kept, { sourceId, channel })
        const { position, resets } = kept ?? { position: FEED_START, resets: 0 }
        return [...rest, ["cursor", writeCursor(key, { sourceId, channel }, position, resets)] as const]
      })

      const acknowledge = Effect.fnUntraced(function* (
        fingerprint: Uint8Array,
        pairs: Pairs,
        scope: ReadScopeOrAll,
      ): Effect.fn.Return<AckReceipt, Refused> {
        const { name, rest } = yield* named(pairs)
        if (name === undefined) return yield* refuse("follower is missing: send its name in the query.")
        const key = yield* keys.key
        const { sourceId, channel, after, resets, cursor } = yield* feedParams(key, rest)
        if (cursor === undefined) {
          const message = "cursor is missing: send the next_cursor of the page that was processed, in the query."
          return yield* new FeedError({ code: "bad_cursor", message, param: "cursor" })
        }
        if (sourceId === "unknown" || (sourceId !== null && !mayReadSource(scope, sourceId))) {
          const message = ERROR_MEANINGS.no_such_source
          return yield* new FeedError({ code: "no_such_source", message, param: "source_id" })
        }
        const filter = { sourceId, channel }
        const of: FollowerOf = { fingerprint, name }
        const outcome = yield* store.acknowledge(of, filter, { position: after, resets })
        if (outcome.refused === "no_key") return yield* refuse("The key of this request was revoked meanwhile.")
        if (outcome.refused !== null) {
          return yield* new ClientFollowerError({
            code: "too_many_followers",
            message: `${FULL[outcome.refused]}.`,
            param: "follower",
          })
        }
        const { kept, moved } = outcome
        yield* checkFilter(name, kept, filter)
        return { follower: name, cursor: writeCursor(key, filter, kept.position, kept.resets), moved }
      })

      return ClientFollowers.of({ resolve, acknowledge })
    }),
  )
}

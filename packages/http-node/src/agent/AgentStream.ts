/**
 * `events/stream`: server-sent events as the response to a message. The first says where the stream begins, a heartbeat moves
 * the client's position while nothing comes, and a key that is revoked ends it with its reason.
 */
import { type EventsStart, feedQueryOf } from "@data-cabinet/core/agent/AgentEvents"
import { RPC_ERRORS } from "@data-cabinet/core/agent/ProtocolError"
import { occurrenceOf } from "@data-cabinet/core/agent/Occurrence"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { FeedError } from "@data-cabinet/core/feed/FeedError"
import type { FeedResult } from "@data-cabinet/core/feed/Feed"
import { behind, type FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import type { ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import { Effect } from "effect"
import { eventText, type NextEvent } from "../server/EventStream.ts"

/** A silent stream sends a heartbeat after this time. */
const HEARTBEAT_MILLIS = 10_000

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

/** Why a stream ends. */
interface End {
  readonly kind: "forbidden" | "missing"
  readonly message: string
}

/** Null if the client should simply come back. */
const endOf = (error: { readonly code?: string }): End | null => {
  if (error.code === "invalid_key") return { kind: "forbidden", message: "The key was revoked, or has expired." }
  return error.code === "no_such_source" ? { kind: "missing", message: "The source no longer exists." } : null
}

interface Parts<E> {
  /** The request's id as JSON text. */
  readonly id: string
  readonly start: EventsStart
  readonly followed: FollowFeed["Service"]
  /** The reader's current scope; fails when its key is revoked. */
  readonly again: Effect.Effect<ReadScopeOrAll, E>
}

/** The texts of a stream, one after another. */
export const agentStream = <E>({ id, start, followed, again }: Parts<E>): NextEvent => {
  const meta = `"_meta":{"${SUBSCRIPTION}":${id}}`
  const said = (kind: string, params: string, cursor: string): string =>
    eventText(cursor, `{"jsonrpc":"2.0","method":"notifications/events/${kind}","params":{${params},${meta}}}`)
  const position = (cursor: string): string => `"cursor":${JSON.stringify(cursor)}`
  const query = feedQueryOf(start.type)
  let cursor = start.cursor
  let hasBegun = false
  let isOver = false

  const pageText = (page: FeedResult): string => {
    const cursors = page.cursors!()
    const texts = page.items.texts().flatMap((text, index) => {
      const at = cursors[index]!
      const occurrence = occurrenceOf(start.type.name, text, at)
      return occurrence === null ? [] : said("event", occurrence.slice(1, -1), at)
    })
    cursor = page.nextCursor
    return texts.length === 0 ? said("heartbeat", position(cursor), cursor) : texts.join("")
  }

  const ended = ({ kind, message }: End): string => {
    isOver = true
    const error = JSON.stringify({ code: RPC_ERRORS[kind], message })
    const result = `{"jsonrpc":"2.0","id":${id},"result":{"resultType":"complete",${meta}}}`
    return said("terminated", `"error":${error}`, cursor) + eventText(cursor, result)
  }

  return Effect.suspend(() => {
    if (isOver) return Effect.succeed(null)
    if (!hasBegun) {
      hasBegun = true
      return Effect.succeed(said("active", `${position(cursor)},"truncated":${start.truncated}`, cursor))
    }
    const next = Effect.flatMap(again, (scope) =>
      followed.next(behind(query, cursor), { waitMillis: HEARTBEAT_MILLIS, scope, again }),
    )
    return Effect.matchEffect(next, {
      onSuccess: ({ page }) => Effect.succeed(pageText(page)),
      onFailure: (error: E | FeedError | StoreUnavailable) => {
        const end = endOf(error as { readonly code?: string })
        return Effect.succeed(end === null ? null : ended(end))
      },
    })
  })
}

/**
 * Reads the watermark of the feed, as a client at a place sees it.
 *
 * Decision: docs/decisions/0012-an-epoch-is-a-life-of-a-server-process.md
 */
import type { FeedPlace } from "@data-cabinet/core/feed/FeedStore"
import { Effect } from "effect"
import { unavailable } from "../connection/StoreFailure.ts"
import type { Session } from "../connection/ReaderSessions.ts"
import { WATERMARK } from "./Fence.ts"

export interface Watermark {
  /** The first position that must not be shown yet: an epoch and a transaction id in it. */
  readonly epoch: string
  readonly bound: string
  /** Whether the database has the event at the client's place. */
  readonly there: boolean
}

/** Fails on a standby, which cannot know what its primary is about to commit. */
export const watermark = (session: Session, { epoch, xid, id, receivedAt = 0n }: FeedPlace) =>
  Effect.flatMap(session.queryValues(WATERMARK, [epoch, xid, id, receivedAt]), ([row]) => {
    const [standby, epochNow, bound, there] = row as [boolean, string, string, boolean]
    const mark: Watermark = { epoch: epochNow, bound, there }
    return standby
      ? unavailable("This database is a standby, which cannot tell what its primary is about to commit.")
      : Effect.succeed(mark)
  })

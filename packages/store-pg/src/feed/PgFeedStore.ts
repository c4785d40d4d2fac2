/**
 * The pages of the feed. Statements run one after the other in one session: first the watermark, then, in a later snapshot,
 * the events below it, and the names of their sources.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type FeedPage, type FeedQuery, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { advance, provesSetBack } from "@data-cabinet/core/feed/FeedPosition"
import { NO_ITEMS } from "@data-cabinet/core/pagination/Items"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { FeedSessions, StatementClient } from "../connection/OwnerClient.ts"
import { readPage } from "../connection/ReadPages.ts"
import { ProtocolError } from "../connection/FrameReader.ts"
import type { Session } from "../connection/ReaderSessions.ts"
import type { LentSessions } from "../connection/SessionPool.ts"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { EventsToJson } from "./EventsToJson.ts"
import { PageBuffers } from "./PageBuffers.ts"
import { pageStatement } from "./PageStatement.ts"
import { recoveredLog } from "./RecoveredLog.ts"
import { beginEpochAbove, latestKnown, laterKnown } from "./SetBack.ts"
import { type NameRow, SOURCE_NAMES, SourceNames } from "./SourceNames.ts"
import { type Watermark, watermark } from "./Fence.ts"
import { SENT_COLUMNS } from "./EventColumns.ts"

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const writing = yield* PgClient.PgClient
    const sessions = yield* FeedSessions
    const replicated = yield* recoveredLog(writing)
    const reader = new PageReader(sessions)
    const page = Effect.fnUntraced(function* (session: Session, wanted: FeedQuery) {
      let fence = yield* watermark(session, wanted.after)
      yield* replicated(session)
      if (provesSetBack(fence.there, wanted.after, Number(fence.epoch))) {
        yield* beginEpochAbove(writing, wanted.after)
        fence = yield* watermark(session, wanted.after)
      }
      if (wanted.exactly === true) return yield* reader.page(session, wanted, fence)
      const after = yield* fence.there ? laterKnown(sql, wanted.after) : latestKnown(sql, wanted.after)
      return yield* reader.page(session, after === wanted.after ? wanted : { ...wanted, after }, fence)
    })
    return FeedStore.of({
      page: (query) => orUnavailable(sessions.owed(sessions.use((session) => page(session, query)))),
    })
  }),
)

const SENT_TYPES = Object.values(SENT_COLUMNS)

type Read<A> = Effect.Effect<A, SqlError.SqlError | StoreUnavailable>

class PageReader {
  readonly #names = new SourceNames()
  readonly #buffers = new PageBuffers()
  readonly #sessions: LentSessions

  constructor(sessions: LentSessions) {
    this.#sessions = sessions
  }

  /**
   * The events after a place and below the watermark; read again if they were written with a name that is not valid.
   */
  page(session: Session, query: FeedQuery, fence: Watermark): Read<FeedPage> {
    return Effect.gen({ self: this }, function* () {
      const optimistic = yield* this.#events(session, query, fence, true)
      const events = optimistic.isWhole ? optimistic : yield* this.#events(session, query, fence, false)
      const { sources } = events
      if (sources.length === 0) {
        return { items: NO_ITEMS, next: query.after, behind: () => query.after, hasMore: events.hasMore }
      }
      const rows = (yield* session.queryValues(SOURCE_NAMES, [int8Array(sources)])) as unknown
      const names = rows as ReadonlyArray<NameRow>
      if (names.length < sources.length) {
        return yield* Effect.die(new Error("An event belongs to a source that is not in the database"))
      }
      this.#names.learn(names)
      if (!events.isNamedAs(names)) return yield* this.page(session, query, fence)
      const behind = (index: number) => advance(query.after, index + 1, (at) => events.placeAt(at))
      return {
        items: events.items(),
        next: behind(events.length - 1),
        behind,
        hasMore: events.hasMore,
      }
    })
  }

  #events(session: Session, query: FeedQuery, { epoch, bound }: Watermark, optimistic: boolean): Read<EventsToJson> {
    return Effect.suspend((): Read<EventsToJson> => {
      const wire = this.#sessions.wireOf(session)
      if (wire === undefined) {
        return Effect.andThen(this.#sessions.invalidate(session), unavailable("The database cannot be reached."))
      }
      const events = new EventsToJson(query.limit, this.#names, this.#buffers)
      const { text, values } = pageStatement(query, epoch, bound, optimistic)
      const statement = { text, values, types: SENT_TYPES, replan: false, proof: null, areLong: false }
      const read = fromCall((call) => readPage(wire, statement, events, call))
      return Effect.flatMap(read, ({ outcome }) =>
        outcome === "read"
          ? Effect.succeed(events)
          : Effect.die(new ProtocolError("The result is not a page of the feed")),
      )
    })
  }
}

/**
 * The pages of the feed. Statements run one after the other in one session: first the watermark, then, in a later snapshot,
 * the events below it, and the names of their sources. Events that have moved into files are merged into the page.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type FeedPage, type FeedPlace, type FeedQuery, FeedStore } from "@data-cabinet/core/feed/FeedStore"
import { advance, laterPlaces, provesSetBack } from "@data-cabinet/core/feed/FeedPosition"
import { NO_ITEMS } from "@data-cabinet/core/pagination/Items"
import { fromCall } from "@data-cabinet/core/runtime/AbortableCall"
import { PgClient } from "@effect/sql-pg"
import { Effect, Layer } from "effect"
import type { SqlError } from "effect/sql"
import { int8Array } from "../connection/Parameter.ts"
import { FeedSessions, StatementClient } from "../connection/OwnerClient.ts"
import type { Statements } from "../connection/StatementPool.ts"
import { readPage } from "../connection/ReadPages.ts"
import { ProtocolError } from "../connection/FrameReader.ts"
import type { Session } from "../connection/ReaderSessions.ts"
import type { LentSessions } from "../connection/SessionPool.ts"
import { orUnavailable, unavailable } from "../connection/StoreFailure.ts"
import { type ColdFound, type ColdList, ColdReader, NO_FILES } from "./ColdReader.ts"
import { MergedEvents } from "./MergedEvents.ts"
import { comparePlaces } from "@data-cabinet/core/feed/FeedTrail"
import { EventsToJson } from "./EventsToJson.ts"
import { PageBuffers } from "./PageBuffers.ts"
import { pageStatement } from "./PageStatement.ts"
import { recoveredLog } from "./RecoveredLog.ts"
import { beginEpochAbove, type InFile, latestKnown, laterKnown } from "./SetBack.ts"
import { type NameRow, SOURCE_NAMES, SourceNames } from "./SourceNames.ts"
import { type Watermark, watermark } from "./Fence.ts"
import { SENT_COLUMNS } from "./EventColumns.ts"

/** A client that is set back continues where it can. */
const settling = (sql: Statements, writing: PgClient.PgClient) =>
  Effect.fnUntraced(function* <E>(wanted: FeedQuery, mark: Watermark, inFile: InFile<E> | null, again: Again) {
    const { after } = wanted
    const isThere = (fence: Watermark) => (fence.there || inFile === null ? Effect.succeed(fence.there) : inFile(after))
    let fence = mark
    let there = yield* isThere(fence)
    if (!there && inFile !== null) {
      // Its row may have been brought back between the two looks.
      fence = yield* again
      there = fence.there
    }
    if (provesSetBack(there, after, Number(fence.epoch))) {
      yield* beginEpochAbove(writing, after)
      fence = yield* again
      there = yield* isThere(fence)
    }
    const known = there ? laterKnown(sql, after, inFile) : latestKnown(sql, after, inFile)
    const settled = wanted.exactly === true ? after : yield* known
    return { fence, query: settled === after ? wanted : { ...wanted, after: settled } }
  })

export const layer = Layer.effect(
  FeedStore,
  Effect.gen(function* () {
    const sql = yield* StatementClient
    const writing = yield* PgClient.PgClient
    const sessions = yield* FeedSessions
    const replicated = yield* recoveredLog(writing)
    const reader = new PageReader(sessions)
    const cold = yield* ColdReader

    const fromFiles = ({ after, limit, sourceId, sources, channel }: FeedQuery, list: ColdList) => {
      const wanted = sourceId === null ? (sources ?? null) : [sourceId]
      return cold.walk(list, {
        after,
        limit,
        sources: wanted,
        wants: (event) =>
          (channel === null || event.channel === channel) && (wanted === null || wanted.includes(event.sourceId)),
      })
    }

    const inSession = <A, E>(work: (session: Session) => Effect.Effect<A, E>) => sessions.owed(sessions.use(work))

    const lookAgain = ({ after }: FeedQuery) =>
      inSession((session) => Effect.tap(watermark(session, after), replicated(session)))

    const settle = settling(sql, writing)

    /**
     * A page for which files are read. No session is held meanwhile: other clients' pages need it. Files are read first, then the
     * rows, which take precedence over their copies in files.
     */
    const oldPage = Effect.fnUntraced(function* (wanted: FeedQuery, mark: Watermark, list: ColdList) {
      const inFile = list.border === null ? null : (place: FeedPlace) => cold.isThere(list, place)
      const { fence, query } = yield* settle(wanted, mark, inFile, lookAgain(wanted))
      const isOld = list.border !== null && comparePlaces(query.after, list.border) < 0
      const found = isOld ? yield* fromFiles(query, list) : null
      return yield* inSession((session) =>
        Effect.gen(function* () {
          const now = yield* watermark(session, wanted.after)
          yield* replicated(session)
          if (now.epoch !== fence.epoch)
            return yield* unavailable("The database has just failed over to another server.")
          return yield* reader.page(session, query, now, found)
        }),
      )
    })

    /** The page; or the watermark and the list of files, if the page needs files. */
    const newPage = Effect.fnUntraced(function* (session: Session, wanted: FeedQuery) {
      const { after } = wanted
      const mark = yield* watermark(session, after)
      yield* replicated(session)
      const list = mark.cold === "0" ? NO_FILES : yield* cold.list(mark.cold)
      const { border } = list
      if (border !== null && (!mark.there || comparePlaces(after, border) < 0 || laterPlaces(after).length > 0)) {
        return { mark, list }
      }
      const { fence, query } = yield* settle<never>(wanted, mark, null, watermark(session, after))
      return yield* reader.page(session, query, fence, null)
    })

    const page = Effect.fnUntraced(function* (wanted: FeedQuery) {
      const first = yield* inSession((session) => newPage(session, wanted))
      if (!("mark" in first)) return first
      return yield* cold.reading((list) => oldPage(wanted, first.mark, list), first.list)
    })
    return FeedStore.of({ page: (query) => orUnavailable(page(query)) })
  }),
)

type Again = Effect.Effect<Watermark, SqlError.SqlError | StoreUnavailable>

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
  page(session: Session, query: FeedQuery, mark: Watermark, old: ColdFound | null): Read<FeedPage> {
    return Effect.gen({ self: this }, function* () {
      const fence = old?.upTo == null ? mark : below(mark, old.upTo)
      const optimistic = yield* this.#events(session, query, fence, true, old)
      const read = optimistic.events.isWhole ? optimistic : yield* this.#events(session, query, fence, false, old)
      const { events, hasMore } = read
      const { sources } = events
      if (sources.length === 0) {
        // A stretch of old history without a wanted event.
        const passed = old?.upTo ?? null
        const next = passed === null ? query.after : advance(query.after, 1, () => placeOf(passed))
        return { items: NO_ITEMS, next, behind: () => query.after, hasMore }
      }
      const rows = (yield* session.queryValues(SOURCE_NAMES, [int8Array(sources)])) as unknown
      const names = rows as ReadonlyArray<NameRow>
      if (names.length < sources.length) {
        return yield* Effect.die(new Error("An event belongs to a source that is not in the database"))
      }
      this.#names.learn(names)
      if (!events.isNamedAs(names)) return yield* this.page(session, query, mark, old)
      const behind = (index: number) => advance(query.after, index + 1, (at) => events.placeAt(at))
      return {
        items: events.items(),
        next: behind(events.length - 1),
        behind,
        hasMore,
      }
    })
  }

  #events(
    session: Session,
    query: FeedQuery,
    { epoch, bound }: Watermark,
    optimistic: boolean,
    old: ColdFound | null,
  ): Read<ReadEvents> {
    return Effect.suspend((): Read<ReadEvents> => {
      const wire = this.#sessions.wireOf(session)
      if (wire === undefined) {
        return Effect.andThen(this.#sessions.invalidate(session), unavailable("The database cannot be reached."))
      }
      const events = new EventsToJson(query.limit, this.#names, this.#buffers)
      const merged = old === null ? null : new MergedEvents(events, old.events, old.upTo)
      const { text, values } = pageStatement(query, epoch, bound, optimistic)
      const statement = { text, values, types: SENT_TYPES, replan: false, proof: null, areLong: false }
      const read = fromCall((call) => readPage(wire, statement, merged ?? events, call))
      return Effect.flatMap(read, ({ outcome }) => {
        if (outcome !== "read") return Effect.die(new ProtocolError("The result is not a page of the feed"))
        merged?.end()
        return Effect.succeed({ events, hasMore: (merged ?? events).hasMore })
      })
    })
  }
}

/** A page's events, and whether others follow. */
interface ReadEvents {
  readonly events: EventsToJson
  readonly hasMore: boolean
}

const placeOf = ({ epoch, xid, id, receivedAt }: Required<FeedPlace>): FeedPlace => ({ epoch, xid, id, receivedAt })

/** No rows after the transaction of this place: they are for a later page. */
const below = (mark: Watermark, { epoch, xid }: FeedPlace): Watermark => ({
  ...mark,
  epoch: String(epoch),
  bound: String(xid + 1n),
})

/**
 * Exports from one snapshot: one of the reader's statements in its own session, read only as fast as rows are needed.
 * The session is closed afterwards, so that no state of a customer's function outlives the export. Always on the
 * primary, because a standby would cancel a long read that blocks its replay.
 */
import {
  MAX_SNAPSHOT_MINUTES,
  MAX_SNAPSHOTS,
  type OpenedSnapshot,
  type RowSnapshot,
  RowSnapshots,
} from "@data-cabinet/core/export/RowSnapshots"
import type { Items } from "@data-cabinet/core/pagination/Items"
import { ReadError, StaleObject } from "@data-cabinet/core/row/ReadError"
import { MAX_ROW_BYTES, type PageQuery, shownColumn } from "@data-cabinet/core/row/RowReader"
import { type AbortableCall, withDeadline } from "@data-cabinet/core/runtime/AbortableCall"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import { type TimerWheel, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Layer, Option, Result } from "effect"
import type { SqlError } from "effect/sql"
import type { KeptSession, KeptSessions } from "../connection/KeptSessions.ts"
import { StatementClient } from "../connection/OwnerClient.ts"
import { ReaderClient } from "../connection/ReaderClient.ts"
import { resetSession, rolledBack } from "../connection/ReaderSessions.ts"
import { endReader } from "../connection/ReaderEnd.ts"
import { END_SESSION, SessionEnds } from "../connection/SessionEnd.ts"
import { RowStream, type StreamStatement } from "../connection/RowStream.ts"
import { queryTimeout, readErrorOf, readerOff, failed } from "../row/ReadErrorOf.ts"
import { PROOF } from "../row/ReadStatement.ts"
import { encodedColumn } from "../row/RecordToJson.ts"
import { RowPosition } from "../row/RowPosition.ts"
import { RowJson, RowsToJson } from "../row/RowsToJson.ts"

/** How long an export waits for others to end, in milliseconds. */
const QUEUE_MILLIS = 8_000

/** A batch is passed on from this size, and its rows are written into a buffer of the second. */
const BATCH_BYTES = 256 * 1024
const RESERVED_BYTES = 384 * 1024

/** Its name in the log. */
const EXPORT = "an export"

/** The alias of the query. */
const ROWS = `"t"`

const late = queryTimeout(
  `The export did not end within ${MAX_SNAPSHOT_MINUTES} minutes, the longest that it may hold its snapshot: select fewer rows, or export them live.`,
)

const busy: Result.Result<KeptSession, ReadError> = Result.fail(
  queryTimeout(`${MAX_SNAPSHOTS} exports are running already; try again when one of them has ended.`),
)

const changed = new ReadError({ code: "table_busy", message: "The table has changed; try again.", retryAfter: 2 })

const tooLong = new ReadError({
  code: "query_failed",
  message: `A row is larger than ${MAX_ROW_BYTES / 1024 / 1024} MB, which is the maximum: select fewer columns.`,
  retryAfter: 0,
})

class JsonBatch extends RowsToJson {
  get isEnough(): boolean {
    return this.writtenBytes >= BATCH_BYTES
  }
}

const streamOf = (query: PageQuery, kept: KeptSession): RowStream<JsonBatch> => {
  const columns = query.shown.map(({ name, type }, index) => encodedColumn(name, type, `${ROWS}.${shownColumn(index)}`))
  const { oid, catalogVersion } = query.table
  const statement: StreamStatement = {
    text: `SELECT ${columns.map(({ sql }) => sql).join(", ")} FROM (${query.text}) AS ${ROWS}`,
    values: query.values.map(({ text }) => text),
    types: columns.map((column) => column.oid),
    proof: catalogVersion === null ? null : { text: PROOF, values: [String(oid)] },
    version: catalogVersion,
  }
  const page = {
    json: new RowJson(columns),
    position: new RowPosition(ROWS, [], columns),
    limit: Number.MAX_SAFE_INTEGER,
    values: columns.length,
    areLong: false,
    reservedBytes: RESERVED_BYTES,
  }
  return new RowStream(kept.wire, statement, () => new JsonBatch(page))
}

type Next = Result.Result<Items | null, ReadError | SqlError.SqlError | StaleObject>

/** A snapshot while it is held. */
class Snapshot implements RowSnapshot {
  readonly #stream: RowStream<JsonBatch>
  readonly #released: (isAtEnd: boolean) => void
  readonly #stopWatch: () => void
  #first: Next | undefined
  #isLate = false
  #isAtEnd = false
  #isClosed = false

  constructor(stream: RowStream<JsonBatch>, ends: TimerWheel, released: (isAtEnd: boolean) => void) {
    this.#stream = stream
    this.#released = released
    this.#stopWatch = ends.watch({
      deadline: ends.now() + MAX_SNAPSHOT_MINUTES * 60_000,
      expire: () => {
        this.#isLate = true
        stream.end()
      },
    })
  }

  /** Waits for the first rows, which are kept for the first `next`. */
  async begin(): Promise<Next> {
    this.#stream.start()
    this.#first = await this.#read()
    return this.#first
  }

  async next(): Promise<Result.Result<Items | null, ReadError>> {
    const read = this.#first ?? (await this.#read())
    this.#first = undefined
    return Result.mapError(read, (error) =>
      error._tag === "SqlError" ? readErrorOf(error) : error._tag === "ReadError" ? error : changed,
    )
  }

  close(): void {
    if (this.#isClosed) return
    this.#isClosed = true
    this.#stopWatch()
    this.#stream.end()
    this.#released(this.#isAtEnd)
  }

  async #read(): Promise<Next> {
    const streamed = await this.#stream.next()
    if (Result.isFailure(streamed)) return Result.fail(this.#isLate ? late : streamed.failure)
    const found = streamed.success
    if (found === "other") return Result.fail(new StaleObject())
    if (found === "too long") return Result.fail(tooLong)
    if (found !== "end") return Result.succeed(found.items())
    this.#isAtEnd = true
    return Result.succeed(null)
  }
}

export const layer = Layer.effect(
  RowSnapshots,
  Effect.gen(function* () {
    const { sessions: known, role, offReason } = yield* ReaderClient
    const owner = yield* StatementClient
    if (Option.isNone(known)) {
      const off = Result.fail(readerOff(offReason))
      return RowSnapshots.of({ open: async () => off })
    }
    const sessions = known.value
    const ends = yield* timerWheel
    const context = yield* Effect.context()

    const ending = yield* SessionEnds.make
    /** A view's function may continue although its client has gone; its session then keeps its place as well. */
    const endBackend = (pid: number): Effect.Effect<void> =>
      ending.end(pid, EXPORT, (onAsked) =>
        endReader({ owner, own: sessions, role }, { pid, work: EXPORT, isExpected: true, onAsked }),
      )
    const release = (kept: KeptSession, isAtEnd: boolean) => {
      const pid = kept.session.processId
      // Terminated with one separate request: a closing program does not wait for the session to leave, but must still
      // end it.
      const terminate = Effect.ignore(owner.values(END_SESSION, [String(pid), role]))
      const left = isAtEnd ? Effect.void : Effect.andThen(terminate, endBackend(pid))
      const closing = Effect.andThen(sessions.snapshots.invalidate(kept.session), left)
      Effect.runForkWith(context)(Effect.ensuring(closing, Effect.sync(kept.giveBack)))
    }
    /** Tried separately, because it may run a customer's functions. */
    const tried = (statement: string, text: string) =>
      sessions.isolated.use((session, settingsAreLoose) => {
        const used = { sessions: sessions.isolated, session, settingsAreLoose, pid: session.processId }
        const trial = session.queryValues(statement, [text], false)
        return Effect.ensuring(
          rolledBack(session, sessions.settings, () => {}, trial),
          Effect.suspend(() => resetSession(used, endBackend)),
        )
      })

    const open = async (query: PageQuery, call: AbortableCall): Promise<OpenedSnapshot> => {
      const acquired = await withDeadline(ends, call, ends.now() + QUEUE_MILLIS, busy, async (own) =>
        Result.mapError(await acquire(sessions.snapshots, own), readErrorOf),
      )
      if (Result.isFailure(acquired)) return Result.fail(acquired.failure)
      const kept = acquired.success
      const snapshot = new Snapshot(streamOf(query, kept), ends, (isAtEnd) => release(kept, isAtEnd))
      const stopListening = call.onAbort(() => snapshot.close())
      const first = await snapshot.begin()
      stopListening()
      if (Result.isSuccess(first) && !call.isAborted) return Result.succeed(snapshot)
      snapshot.close()
      if (Result.isSuccess(first)) return Result.fail(new StaleObject())
      const { failure } = first
      return failure._tag === "SqlError"
        ? runResult(failed(query, failure, tried), call.context, call)
        : Result.fail(failure)
    }
    return RowSnapshots.of({ open })
  }),
)

const acquire = async (
  sessions: KeptSessions,
  call: AbortableCall,
): Promise<Result.Result<KeptSession, SqlError.SqlError>> => {
  const kept = sessions.tryAcquire()
  return kept === undefined ? sessions.acquire(call) : Result.succeed(kept)
}

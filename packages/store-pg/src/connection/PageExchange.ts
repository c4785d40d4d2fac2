/**
 * One page of rows from a session: its statement, followed, before the one Sync, by the statement that proves that the
 * object is as expected. Both run in one implicit transaction, so that the locks of the page are still held when the
 * proof takes its snapshot. Nothing is created for a row or a value: a row is encoded as JSON in place.
 *
 * Any unexpected message of the server ends the session. A call that is aborted cancels the statement in the database;
 * its remaining messages are discarded.
 */
import type { PgProtocol } from "@effect/sql-pg"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { Result } from "effect"
import type { SqlError } from "effect/sql"
import { type FrameConsumer, ProtocolError } from "./FrameReader.ts"
import {
  COLUMNS,
  columnTypes,
  COMPLETE,
  ERROR,
  errorFields,
  failureOf,
  IDLE,
  lostBy,
  MOST_BYTES,
  MOST_ERROR_BYTES,
  NOTICE,
  NOTIFICATION,
  PARAMETER,
  READY,
  ROW,
  SUSPENDED,
  versionIn,
} from "./Messages.ts"
import type { Added, PageOutcome, PageStatement, PageToRead, RowSink } from "./PageStatement.ts"
import { Pipeline, unexpected } from "./Pipeline.ts"
import type { Receiver } from "./Wire.ts"
import type { WireSession } from "./Wires.ts"

/** How many long rows are fetched at once, at most: they are sent before it shows how long they are. */
const MOST_LONG_ROWS = 8

/** A statement that ends on its own within this many milliseconds need not be cancelled. */
const GRACE_MILLIS = 10
/** How long a cancelled statement may go on before its session is ended. */
const DRAIN_MILLIS = 5_000

const CANCELLED = "57014"
/** The statement of that name has other parameters. */
const WRONG_MESSAGE = "08P01"
/** The statement's name is unknown to the server, or its plan would return something else now. */
const STALE_NAMES: ReadonlySet<string | undefined> = new Set(["26000", "0A000"])

type PageResult = Result.Result<PageOutcome, SqlError.SqlError>

/**
 * Reads a page in a session that is used for nothing else until it has ended. A call that is aborted cancels the
 * statement: the result is then `other`, and comes when the session is at rest.
 */
export const readPage = (
  session: WireSession,
  statement: PageStatement,
  rows: RowSink,
  call: AbortableCall,
): Promise<PageResult> => readPages(session, [{ statement, rows }], call)

/**
 * Reads several pages in one transaction, followed by their common proof. All or none: no page counts unless all were
 * read. Pages with long rows are never read together.
 */
export const readPages = (
  session: WireSession,
  pages: ReadonlyArray<PageToRead>,
  call: AbortableCall,
): Promise<PageResult> =>
  new Promise((resolve) => {
    if (call.isAborted) return resolve(NOBODY_WAITS)
    const exchange = new PageExchange(session, pages, (result) => {
      stopListening()
      resolve(result)
    })
    const stopListening = call.onAbort(() => exchange.abort())
    exchange.start()
  })

/** The state of an exchange that is only being drained. */
const NOBODY_WAITS: PageResult = Result.succeed({ outcome: "other" })

class PageExchange implements Receiver, FrameConsumer {
  readonly #session: WireSession
  readonly #pages: ReadonlyArray<PageToRead>
  /** The page whose messages come. */
  #page: PageToRead
  #pageIndex = 0
  readonly #resume: (result: PageResult) => void
  readonly #pipeline: Pipeline
  #inProof = false
  #added: Added = "more"
  /** Whether a statement returned something else than it is said to. */
  #isOther = false
  #rowsAtOnce = 1
  #rowsOfLot = 0
  #version: string | null = null
  #failure: PgProtocol.ErrorFields | undefined
  #isRetried = false
  #isDone = false
  /** Notifies the caller, once the connection is returned. */
  #ended: (() => void) | undefined
  /** Set once the caller has left or does not want the rest: called when the session is idle. */
  #drained: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isCancelled = false

  constructor(session: WireSession, pages: ReadonlyArray<PageToRead>, resume: (result: PageResult) => void) {
    this.#session = session
    this.#pipeline = new Pipeline(session)
    this.#pages = pages
    this.#page = pages[0]!
    this.#resume = resume
  }

  get #statement(): PageStatement {
    return this.#page.statement
  }

  start(): void {
    this.#session.wire.takeOver(this)
    if (!this.#isDone) this.#sendPages()
  }

  #sendPages(): void {
    const pipeline = this.#pipeline
    pipeline.begin()
    for (const { statement } of this.#pages) {
      if (pipeline.bind(statement.text, statement.values, statement.replan)) pipeline.describe()
      if (statement.areLong) pipeline.awaitRows()
      else pipeline.execute()
    }
    if (this.#statement.areLong) pipeline.fetch(this.#rowsAtOnce)
    else this.#sendProof()
  }

  #sendProof(): void {
    const { proof } = this.#statement
    if (proof !== null) {
      this.#pipeline.bind(proof.text, proof.values, false)
      this.#pipeline.execute()
    }
    this.#pipeline.sync()
  }

  receive(chunk: Uint8Array): void {
    let end: number
    try {
      end = this.#session.frames.push(chunk, this)
    } catch (cause) {
      return void this.#session.wire.destroy(cause instanceof Error ? cause : new ProtocolError(String(cause)))
    }
    const ended = this.#ended
    if (ended === undefined) return
    this.#ended = undefined
    this.#session.frames.rest()
    // Done before the caller continues, which may use the session by the driver.
    this.#session.wire.giveBack(chunk.subarray(end))
    ended()
  }

  lost(cause: Error): void {
    if (this.#isDone) return
    this.#end(Result.fail(this.#failure === undefined ? lostBy(cause) : failureOf(this.#failure)))
    this.#ended?.()
  }

  mostBytes(type: number): number {
    if (type === ROW) return this.#page.rows.mostBytes
    return type === ERROR ? MOST_ERROR_BYTES : MOST_BYTES
  }

  skipped(type: number): void {
    if (type === NOTICE || type === NOTIFICATION || type === PARAMETER) return
    if (type !== ROW) throw new ProtocolError("A message is too long")
    this.#expectRow()
    if (!this.#inProof && this.#added === "more") this.#note(this.#page.rows.skipped())
  }

  read(type: number, bytes: DataView, start: number, end: number): boolean {
    switch (type) {
      case NOTICE:
      case PARAMETER:
      case NOTIFICATION:
        return true
      case ERROR:
        this.#fail(errorFields(bytes, start, end))
        return true
      case ROW:
        this.#expectRow()
        if (!this.#isFinishing) this.#row(bytes, start, end)
        return true
      case READY:
        return this.#ready(bytes, start, end)
    }
    if (this.#drained !== undefined && this.#failure === undefined) return true
    if (type === SUSPENDED && this.#mayFetch) this.#fetch()
    else {
      this.#expect(type)
      if (type === COLUMNS) this.#describe(bytes, start, end)
      if (type === COMPLETE) this.#complete()
    }
    return true
  }

  /** Whether the server's remaining messages are only being drained. */
  get #isFinishing(): boolean {
    return this.#drained !== undefined || this.#failure !== undefined
  }

  #expect(type: number): void {
    if (this.#failure !== undefined) throw unexpected(type)
    this.#pipeline.expect(type)
  }

  #expectRow(): void {
    if (this.#drained !== undefined && this.#failure === undefined) return
    if (this.#failure !== undefined || this.#pipeline.next !== COMPLETE) throw new ProtocolError("Unexpected row")
    this.#rowsOfLot++
  }

  #row(bytes: DataView, start: number, end: number): void {
    if (this.#inProof) this.#version = versionIn(bytes, start, end)
    else if (this.#added === "more") this.#note(this.#page.rows.add(bytes, start, end))
  }

  /** Long rows must be fetched a few at a time: the statement is cancelled, and the caller notified. */
  #note(added: Added): void {
    this.#added = added
    if (added === "malformed") this.#isOther = true
    if (added === "full" && !this.#statement.areLong) {
      this.#drain(() => this.#resume(Result.succeed({ outcome: "too long" })))
    }
  }

  /** A statement's columns are examined once: a prepared statement returns the same types, or fails. */
  #describe(bytes: DataView, start: number, end: number): void {
    const { text, types } = this.#statement
    const found = columnTypes(bytes, start, end)
    const isSame = found.length === types.length && found.every((type, index) => type === types[index])
    if (isSame) this.#pipeline.keep(text)
    else this.#note("malformed")
  }

  /** Rows are left in the portal: exactly as many have come as were requested. */
  get #mayFetch(): boolean {
    if (!this.#statement.areLong || this.#inProof || this.#failure !== undefined) return false
    return this.#pipeline.next === COMPLETE && this.#rowsOfLot === this.#rowsAtOnce
  }

  #fetch(): void {
    if (this.#added !== "more") {
      this.#pipeline.expect(COMPLETE)
      return this.#complete()
    }
    this.#rowsAtOnce = Math.min(this.#rowsAtOnce * 2, this.#page.rows.room(), MOST_LONG_ROWS)
    this.#rowsOfLot = 0
    this.#pipeline.fetch(this.#rowsAtOnce)
  }

  #complete(): void {
    if (this.#inProof) {
      this.#pipeline.keep(this.#statement.proof!.text)
      return
    }
    if (this.#pageIndex < this.#pages.length - 1) {
      this.#showPage(this.#pageIndex + 1)
      return
    }
    this.#inProof = this.#statement.proof !== null
    if (!this.#pipeline.isSynced) this.#sendProof()
  }

  #showPage(index: number): void {
    this.#pageIndex = index
    this.#page = this.#pages[index]!
    this.#added = "more"
  }

  #fail(fields: PgProtocol.ErrorFields): void {
    // A second error can only report the end of the session.
    this.#failure ??= fields
    if (!this.#pipeline.isSynced) this.#pipeline.endEarly()
  }

  #ready(bytes: DataView, start: number, end: number): boolean {
    if (!this.#isFinishing) this.#expect(READY)
    if (!this.#pipeline.isSynced || end - start !== 1 || bytes.getUint8(start) !== IDLE) {
      throw new ProtocolError("The session is not idle")
    }
    const failure = this.#failure
    this.#pipeline.closeUnkept()
    if (this.#drained !== undefined) {
      this.#end(NOBODY_WAITS)
      if (this.#isCancelled && failure?.code !== CANCELLED) this.#endSession()
      return false
    }
    if (failure !== undefined && this.#pipeline.reuses && !this.#isRetried && STALE_NAMES.has(failure.code)) {
      this.#retry()
      return true
    }
    if (failure !== undefined && !this.#isReplaced(failure)) this.#end(Result.fail(failureOf(failure)))
    else if (failure !== undefined || this.#isOther) this.#end(Result.succeed({ outcome: "other" }))
    else this.#end(Result.succeed({ outcome: "read", version: this.#version }))
    return false
  }

  /** Whether code that ran while the page was planned has put another statement in the place of ours, or taken it away. */
  #isReplaced({ code: state }: PgProtocol.ErrorFields): boolean {
    return state === WRONG_MESSAGE || (this.#inProof && STALE_NAMES.has(state))
  }

  /**
   * A request to cancel that was not confirmed may still reach the session's next statement. The caller continues once
   * the driver knows that the session has ended.
   */
  #endSession(): void {
    const { wire } = this.#session
    const ended = this.#ended
    this.#ended = () => undefined
    wire.once("close", () => ended?.())
    wire.destroy()
  }

  /** Once more, and prepared again: the session no longer has the statements that it had. */
  #retry(): void {
    const { prepared } = this.#session
    for (const { statement } of this.#pages) prepared.drop(statement.text)
    if (this.#statement.proof !== null) prepared.drop(this.#statement.proof.text)
    this.#isRetried = true
    this.#failure = undefined
    this.#inProof = false
    this.#isOther = false
    this.#rowsAtOnce = 1
    this.#rowsOfLot = 0
    this.#version = null
    this.#showPage(0)
    for (const { rows } of this.#pages) rows.reset()
    this.#sendPages()
  }

  #end(result: PageResult): void {
    this.#isDone = true
    clearTimeout(this.#timer)
    this.#ended = this.#drained ?? (() => this.#resume(result))
  }

  /** Discards the statement's remaining output, and cancels it if that does not end soon; then calls `drained`. */
  #drain(drained: () => void): void {
    this.#drained = drained
    if (!this.#pipeline.isSynced) this.#pipeline.endEarly()
    this.#timer = setTimeout(() => {
      this.#isCancelled = true
      this.#session.cancel()
      this.#timer = setTimeout(
        () => this.#session.wire.destroy(new Error("Query cancellation timed out")),
        DRAIN_MILLIS,
      )
    }, GRACE_MILLIS)
  }

  /** Ends the statement for a caller that no longer waits; ends when the session is at rest. */
  abort(): void {
    if (this.#isDone) return
    const drained = () => this.#resume(NOBODY_WAITS)
    if (this.#drained === undefined) this.#drain(drained)
    else this.#drained = drained
  }
}

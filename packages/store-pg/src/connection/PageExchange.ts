/**
 * One page of rows from a session: its statement, and behind it, before the one Sync, the statement that proves that the
 * object is as expected. Both run in one implicit transaction, so that the locks of the page are still held when the proof
 * takes its snapshot. Nothing is created for a row or a value: a row is written as JSON from where it lies.
 *
 * Whatever the server sends that does not belong here ends the session. A call that is aborted cancels the statement in
 * the database; what it still sends is thrown away.
 */
import { PgProtocol } from "@effect/sql-pg"
import type { AbortableCall } from "@data-cabinet/core/runtime/AbortableCall"
import { Result } from "effect"
import type { SqlError } from "effect/sql"
import { type FrameConsumer, ProtocolError } from "./FrameReader.ts"
import {
  bind,
  BOUND,
  CLOSED,
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
  PARSED,
  READY,
  ROW,
  SUSPENDED,
  versionIn,
} from "./Messages.ts"
import type { Receiver } from "./Wire.ts"
import type { WireSession } from "./Wires.ts"

/** What becomes of the rows. */
export interface RowSink {
  /** The most bytes that a row may have. */
  readonly mostBytes: number
  /** Takes a DataRow's body. */
  readonly add: (bytes: DataView, start: number, end: number) => Added
  /** A row that is too long to be sent on. */
  readonly skipped: () => Added
  /** About how many more rows it has room for, at least one; it is asked after a row. */
  readonly room: () => number
  /** Forgets all rows: the statement is run again. */
  readonly reset: () => void
}

/** `full`: no further row is wanted. `malformed`: the row is not what the statement returns. */
export type Added = "more" | "full" | "malformed"

export interface PageStatement {
  readonly text: string
  readonly values: ReadonlyArray<string>
  /** The types of its columns, by oid. */
  readonly types: ReadonlyArray<number>
  /** True if it is planned for these values alone. */
  readonly replan: boolean
  /** The statement that proves the object's version, and its parameters; null if nothing is to be proven. */
  readonly proof: { readonly text: string; readonly values: ReadonlyArray<string> } | null
  /**
   * True if rows are long: they are fetched a few at a time, until the sink is full. Otherwise all are sent at once, and
   * the statement is cancelled when the sink is full before them.
   */
  readonly areLong: boolean
}

/**
 * What was read. `version`: what the proof returned. `too long`: the rows are long, and it was not said that they are.
 * `other`: the statement returns something else than it is said to, so the object has changed.
 */
export type PageOutcome =
  | { readonly outcome: "read"; readonly version: string | null }
  | { readonly outcome: "too long" | "other" }

const SYNC = PgProtocol.encodeSync()
const FLUSH = PgProtocol.encodeFlush()
const DESCRIBE = PgProtocol.encodeDescribe({ target: "portal", name: "" })
const EXECUTE = PgProtocol.encodeExecute({ portal: "", maxRows: 0 })

/** How many long rows are fetched at once, at most: they are sent before it shows how long they are. */
const MOST_LONG_ROWS = 8

/** A statement that ends by itself within this many milliseconds need not be cancelled. */
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
 * Reads a page in a session that nobody else uses until it has ended. A call that is aborted cancels the statement: the
 * result is then `other`, and comes when the session is at rest.
 */
export const readPage = (
  session: WireSession,
  statement: PageStatement,
  rows: RowSink,
  call: AbortableCall,
): Promise<PageResult> => readPages(session, [{ statement, rows }], call)

/** A page, and what becomes of its rows. */
export interface PageToRead {
  readonly statement: PageStatement
  readonly rows: RowSink
}

/**
 * Reads several pages in one transaction, with the one proof that they have in common behind them. The result is that of
 * all: none counts unless all were read. No rows of several pages are long.
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

/** What becomes of an exchange whose end is only waited for. */
const NOBODY_WAITS: PageResult = Result.succeed({ outcome: "other" })

class PageExchange implements Receiver, FrameConsumer {
  readonly #session: WireSession
  readonly #pages: ReadonlyArray<PageToRead>
  /** The page whose messages come. */
  #page: PageToRead
  #pageIndex = 0
  readonly #resume: (result: PageResult) => void
  /** The messages that are still to come, apart from rows; the next one is at `#step`. */
  #steps: Array<number> = []
  #step = 0
  /** The names that were used without being prepared in this exchange. */
  #reuses = false
  /** The statements that are being prepared, by their text. */
  #parsing = new Map<string, string>()
  #inProof = false
  #isSynced = false
  #added: Added = "more"
  /** Whether a statement returned something else than it is said to. */
  #isOther = false
  #rowsAtOnce = 1
  #rowsOfLot = 0
  #version: string | null = null
  #failure: PgProtocol.ErrorFields | undefined
  #isRetried = false
  #isDone = false
  /** Tells the caller, once the connection is given back. */
  #ended: (() => void) | undefined
  /** Set once the caller no longer waits, or the rest is not wanted: called when the session is at rest. */
  #drained: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isCancelled = false

  constructor(session: WireSession, pages: ReadonlyArray<PageToRead>, resume: (result: PageResult) => void) {
    this.#session = session
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
    const closes = this.#session.prepared.takeCloses()
    this.#steps = closes.map(() => CLOSED)
    this.#step = 0
    const frames: Array<Uint8Array> = [...closes]
    for (const { statement } of this.#pages) this.#bindPage(frames, statement)
    if (this.#statement.areLong) {
      frames.push(executeSome(this.#rowsAtOnce), FLUSH)
      this.#send(frames)
    } else this.#sendProof(frames)
  }

  #bindPage(frames: Array<Uint8Array>, { text, values, replan, areLong }: PageStatement): void {
    if (this.#bind(frames, text, values, replan)) {
      frames.push(DESCRIBE)
      this.#steps.push(COLUMNS)
    }
    this.#steps.push(COMPLETE)
    if (!areLong) frames.push(EXECUTE)
  }

  #sendProof(frames: Array<Uint8Array>): void {
    const { proof } = this.#statement
    if (proof !== null) {
      this.#bind(frames, proof.text, proof.values, false)
      frames.push(EXECUTE)
      this.#steps.push(COMPLETE)
    }
    frames.push(SYNC)
    this.#steps.push(READY)
    this.#isSynced = true
    this.#send(frames)
  }

  /** Parse if the statement is not prepared, and Bind. Returns whether it is parsed. */
  #bind(frames: Array<Uint8Array>, text: string, values: ReadonlyArray<string>, replan: boolean): boolean {
    const { prepared } = this.#session
    // Another page of this exchange may be the one that prepares it.
    const parsing = replan ? undefined : this.#parsing.get(text)
    const known = parsing ?? (replan ? undefined : prepared.nameOf(text))
    const name = known ?? (replan ? "" : prepared.newName())
    if (known === undefined) {
      frames.push(Result.getOrThrow(PgProtocol.encodeParse({ name, query: text, parameterTypes: [] })))
      this.#steps.push(PARSED)
      if (!replan) this.#parsing.set(text, name)
    } else if (parsing === undefined) this.#reuses = true
    frames.push(Result.getOrThrow(bind({ portal: "", statement: name, parameters: values })))
    this.#steps.push(BOUND)
    return known === undefined
  }

  #send(frames: ReadonlyArray<Uint8Array>): void {
    this.#session.wire.send(Buffer.concat(frames))
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
    // Before the caller goes on, who may use the session by the driver.
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

  /** Whether what the server still sends is only waited for. */
  get #isFinishing(): boolean {
    return this.#drained !== undefined || this.#failure !== undefined
  }

  #expect(type: number): void {
    if (this.#failure !== undefined || this.#steps[this.#step] !== type) {
      throw new ProtocolError(`Unexpected message ${String.fromCharCode(type)}`)
    }
    this.#step++
  }

  #expectRow(): void {
    if (this.#drained !== undefined && this.#failure === undefined) return
    if (this.#failure !== undefined || this.#steps[this.#step] !== COMPLETE) throw new ProtocolError("Unexpected row")
    this.#rowsOfLot++
  }

  #row(bytes: DataView, start: number, end: number): void {
    if (this.#inProof) this.#version = versionIn(bytes, start, end)
    else if (this.#added === "more") this.#note(this.#page.rows.add(bytes, start, end))
  }

  /** Rows that are long must be asked for a few at a time: the statement is cancelled, and the caller told. */
  #note(added: Added): void {
    this.#added = added
    if (added === "malformed") this.#isOther = true
    if (added === "full" && !this.#statement.areLong) {
      this.#drain(() => this.#resume(Result.succeed({ outcome: "too long" })))
    }
  }

  /** A statement's columns are looked at once: what is prepared returns the same types, or fails. */
  #describe(bytes: DataView, start: number, end: number): void {
    const { text, types } = this.#statement
    const found = columnTypes(bytes, start, end)
    const isSame = found.length === types.length && found.every((type, index) => type === types[index])
    const name = this.#parsing.get(text)
    if (!isSame) this.#note("malformed")
    else if (name !== undefined) {
      this.#session.prepared.add(text, name)
      this.#parsing.delete(text)
    }
  }

  /** Rows are left in the portal: exactly as many have come as were asked for. */
  get #mayFetch(): boolean {
    if (!this.#statement.areLong || this.#inProof || this.#failure !== undefined) return false
    return this.#steps[this.#step] === COMPLETE && this.#rowsOfLot === this.#rowsAtOnce
  }

  #fetch(): void {
    if (this.#added !== "more") {
      this.#step++
      return this.#complete()
    }
    this.#rowsAtOnce = Math.min(this.#rowsAtOnce * 2, this.#page.rows.room(), MOST_LONG_ROWS)
    this.#rowsOfLot = 0
    this.#send([executeSome(this.#rowsAtOnce), FLUSH])
  }

  #complete(): void {
    if (this.#inProof) {
      const { proof } = this.#statement
      const name = this.#parsing.get(proof!.text)
      if (name !== undefined) this.#session.prepared.add(proof!.text, name)
      this.#parsing.delete(proof!.text)
      return
    }
    if (this.#pageIndex < this.#pages.length - 1) {
      this.#showPage(this.#pageIndex + 1)
      return
    }
    this.#inProof = this.#statement.proof !== null
    if (!this.#isSynced) this.#sendProof([])
  }

  #showPage(index: number): void {
    this.#pageIndex = index
    this.#page = this.#pages[index]!
    this.#added = "more"
  }

  #fail(fields: PgProtocol.ErrorFields): void {
    // A second one can only tell that the session ends.
    this.#failure ??= fields
    if (!this.#isSynced) this.#sync()
  }

  #sync(): void {
    this.#isSynced = true
    this.#send([SYNC])
  }

  #ready(bytes: DataView, start: number, end: number): boolean {
    if (!this.#isFinishing) this.#expect(READY)
    if (!this.#isSynced || end - start !== 1 || bytes.getUint8(start) !== IDLE) {
      throw new ProtocolError("The session is not idle")
    }
    const failure = this.#failure
    const { prepared } = this.#session
    for (const name of this.#parsing.values()) prepared.close(name)
    this.#parsing.clear()
    if (this.#drained !== undefined) {
      this.#end(NOBODY_WAITS)
      if (this.#isCancelled && failure?.code !== CANCELLED) this.#endSession()
      return false
    }
    if (failure !== undefined && this.#reuses && !this.#isRetried && STALE_NAMES.has(failure.code)) {
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
   * A request to cancel that was not confirmed may still reach the session's next statement. The caller goes on once the
   * driver knows that the session has ended.
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
    this.#isSynced = false
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

  /** Throws away what the statement still sends, and cancels it if that does not end soon; then calls `drained`. */
  #drain(drained: () => void): void {
    this.#drained = drained
    if (!this.#isSynced) this.#sync()
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

const executeSome = (maxRows: number): Uint8Array => PgProtocol.encodeExecute({ portal: "", maxRows })

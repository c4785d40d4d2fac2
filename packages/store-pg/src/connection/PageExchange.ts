/**
 * One page of rows from a session: its statement, followed, before the one Sync, by the statement that proves that the
 * object is as expected. Both run in one implicit transaction, so that the locks of the page are still held when the
 * proof takes its snapshot. Nothing is created for a row or a value: a row is encoded as JSON in place.
 *
 * Any unexpected message of the server ends the session.
 */
import type { PgProtocol } from "@effect/sql-pg"
import { Result } from "effect"
import { ProtocolError } from "./FrameReader.ts"
import {
  COLUMNS,
  COMPLETE,
  ERROR,
  errorFields,
  failureOf,
  hasTypes,
  IDLE,
  isAside,
  isLongRow,
  lostBy,
  mostBytesOf,
  READY,
  ROW,
  STALE_NAMES,
  SUSPENDED,
  versionIn,
  WRONG_MESSAGE,
} from "./Messages.ts"
import {
  type Added,
  NOBODY_WAITS,
  type PageResult,
  type PageStatement,
  type PageToRead,
  RowLot,
} from "./PageStatement.ts"
import { unexpected } from "./Pipeline.ts"
import { SessionExchange } from "./SessionExchange.ts"
import type { WireSession } from "./Wires.ts"

export class PageExchange extends SessionExchange {
  readonly #pages: ReadonlyArray<PageToRead>
  /** The page whose messages come. */
  #page: PageToRead
  #pageIndex = 0
  readonly #resume: (result: PageResult) => void
  #inProof = false
  #added: Added = "more"
  /** Whether a statement returned something else than declared. */
  #isOther = false
  readonly #lot = new RowLot()
  #version: string | null = null
  #failure: PgProtocol.ErrorFields | undefined
  #isRetried = false

  constructor(session: WireSession, pages: ReadonlyArray<PageToRead>, resume: (result: PageResult) => void) {
    super(session)
    this.#pages = pages
    this.#page = pages[0]!
    this.#resume = resume
  }

  get #statement(): PageStatement {
    return this.#page.statement
  }

  protected begin(): void {
    const { pipeline } = this
    pipeline.begin()
    for (const { statement } of this.#pages) {
      if (pipeline.bind(statement.text, statement.values, statement.replan)) pipeline.describe()
      if (statement.areLong) pipeline.awaitRows()
      else pipeline.execute()
    }
    if (this.#statement.areLong) pipeline.fetch(this.#lot.size)
    else this.#sendProof()
  }

  #sendProof(): void {
    const { proof } = this.#statement
    if (proof !== null) {
      this.pipeline.bind(proof.text, proof.values, false)
      this.pipeline.execute()
    }
    this.pipeline.sync()
  }

  protected resumeLost(cause: Error): void {
    this.#resume(Result.fail(this.#failure === undefined ? lostBy(cause) : failureOf(this.#failure)))
  }

  protected resumeAborted(): void {
    this.#resume(NOBODY_WAITS)
  }

  mostBytes(type: number): number {
    return mostBytesOf(type, this.#page.rows.mostBytes)
  }

  skipped(type: number): void {
    if (!isLongRow(type)) return
    this.#expectRow()
    if (!this.#inProof && this.#added === "more") this.#note(this.#page.rows.skipped())
  }

  read(type: number, bytes: DataView, start: number, end: number): boolean {
    switch (type) {
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
    if (isAside(type) || (this.isDraining && this.#failure === undefined)) return true
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
    return this.isDraining || this.#failure !== undefined
  }

  #expect(type: number): void {
    if (this.#failure !== undefined) throw unexpected(type)
    this.pipeline.expect(type)
  }

  #expectRow(): void {
    if (this.isDraining && this.#failure === undefined) return
    if (this.#failure !== undefined || this.pipeline.next !== COMPLETE) throw new ProtocolError("Unexpected row")
    this.#lot.came++
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
      this.drain(() => this.#resume(Result.succeed({ outcome: "too long" })))
    }
  }

  /** A statement's columns are examined once: a prepared statement returns the same types, or fails. */
  #describe(bytes: DataView, start: number, end: number): void {
    const { text, types } = this.#statement
    if (hasTypes(bytes, start, end, types)) this.pipeline.keep(text)
    else this.#note("malformed")
  }

  /** More rows are left in the portal: as many have arrived as were requested. */
  get #mayFetch(): boolean {
    if (!this.#statement.areLong || this.#inProof || this.#failure !== undefined) return false
    return this.pipeline.next === COMPLETE && this.#lot.isComplete
  }

  #fetch(): void {
    if (this.#added !== "more") {
      this.pipeline.expect(COMPLETE)
      return this.#complete()
    }
    this.pipeline.fetch(this.#lot.next(this.#page.rows.room()))
  }

  #complete(): void {
    if (this.#inProof) return this.pipeline.keep(this.#statement.proof!.text)
    if (this.#pageIndex < this.#pages.length - 1) return this.#showPage(this.#pageIndex + 1)
    this.#inProof = this.#statement.proof !== null
    if (!this.pipeline.isSynced) this.#sendProof()
  }

  #showPage(index: number): void {
    this.#pageIndex = index
    this.#page = this.#pages[index]!
    this.#added = "more"
  }

  #fail(fields: PgProtocol.ErrorFields): void {
    // A second error can only report the end of the session.
    this.#failure ??= fields
    if (!this.pipeline.isSynced) this.pipeline.endEarly()
  }

  #ready(bytes: DataView, start: number, end: number): boolean {
    if (!this.#isFinishing) this.#expect(READY)
    if (!this.pipeline.isSynced || end - start !== 1 || bytes.getUint8(start) !== IDLE) {
      throw new ProtocolError("The session is not idle")
    }
    const failure = this.#failure
    this.pipeline.closeUnkept()
    if (this.isDraining) {
      this.#end(NOBODY_WAITS)
      this.endUnlessCancelled(failure?.code)
      return false
    }
    if (failure !== undefined && this.pipeline.reuses && !this.#isRetried && STALE_NAMES.has(failure.code)) {
      this.#retry()
      return true
    }
    if (failure !== undefined && !this.#isReplaced(failure)) this.#end(Result.fail(failureOf(failure)))
    else if (failure !== undefined || this.#isOther) this.#end(Result.succeed({ outcome: "other" }))
    else this.#end(Result.succeed({ outcome: "read", version: this.#version }))
    return false
  }

  /** Whether code that ran while the page was planned has replaced or removed our prepared statement. */
  #isReplaced({ code: state }: PgProtocol.ErrorFields): boolean {
    return state === WRONG_MESSAGE || (this.#inProof && STALE_NAMES.has(state))
  }

  /** Prepares and sends everything again: the session has lost its prepared statements. */
  #retry(): void {
    const { prepared } = this.session
    for (const { statement } of this.#pages) prepared.drop(statement.text)
    if (this.#statement.proof !== null) prepared.drop(this.#statement.proof.text)
    this.#isRetried = true
    this.#failure = undefined
    this.#inProof = false
    this.#isOther = false
    this.#lot.restart()
    this.#version = null
    this.#showPage(0)
    for (const { rows } of this.#pages) rows.reset()
    this.begin()
  }

  #end(result: PageResult): void {
    this.end(() => this.#resume(result))
  }
}

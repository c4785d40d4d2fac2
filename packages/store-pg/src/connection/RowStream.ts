/**
 * The rows of one statement from a session, batch after batch, all of them from the statement's one snapshot. While no
 * caller wants a batch, the connection is not read, and PostgreSQL waits with the next row: memory holds a batch or
 * two, whatever the number of rows. The statement that proves that the object is as expected runs when the locks of the
 * rows are held and before the first of them is sent.
 *
 * The session is useless afterwards: its holder closes it.
 */
import { PgProtocol } from "@effect/sql-pg"
import { Result } from "effect"
import type { SqlError } from "effect/sql"
import { type FrameConsumer, ProtocolError } from "./FrameReader.ts"
import {
  bind,
  BOUND,
  COLUMNS,
  COMPLETE,
  ERROR,
  errorFields,
  failureOf,
  hasTypes,
  isAside,
  isLongRow,
  lostBy,
  mostBytesOf,
  PARSED,
  READY,
  ROW,
  versionIn,
} from "./Messages.ts"
import type { PageStatement, RowSink } from "./PageStatement.ts"
import type { Receiver } from "./Wire.ts"
import type { WireSession } from "./Wires.ts"

export interface StreamStatement extends Pick<PageStatement, "text" | "values" | "types" | "proof"> {
  /** The value that the proof must return; ignored without a proof. */
  readonly version: string | null
}

/** Rows that are being collected. */
export interface RowBatch extends Pick<RowSink, "mostBytes" | "add"> {
  readonly isEmpty: boolean
  /** Whether the batch is long enough to be passed on. */
  readonly isEnough: boolean
}

/**
 * `end`: all rows have come. `other`: the object has changed, and no row has come. `too long`: a row exceeds the limit.
 */
export type Streamed<Batch> = Result.Result<Batch | "end" | "other" | "too long", SqlError.SqlError>

const PORTAL = "data_cabinet_rows"

/** In the server's order: the rows come last but one. */
const STEPS = [PARSED, BOUND, COLUMNS]
const PROOF_STEPS = [PARSED, BOUND, COMPLETE]

export class RowStream<Batch extends RowBatch> implements Receiver, FrameConsumer {
  readonly #session: WireSession
  readonly #statement: StreamStatement
  readonly #begin: () => Batch
  readonly #steps: ReadonlyArray<number>
  #step = 0
  #batch: Batch
  /** Received before it was wanted. */
  readonly #batches: Array<Batch> = []
  #version: string | null = null
  #ended: Streamed<Batch> | undefined
  /** Whether the statement has ended, or the connection. */
  #isDone = false
  #wanted: ((streamed: Streamed<Batch>) => void) | undefined

  constructor(session: WireSession, statement: StreamStatement, begin: () => Batch) {
    this.#session = session
    this.#statement = statement
    this.#begin = begin
    this.#batch = begin()
    this.#steps = [...STEPS, ...(statement.proof === null ? [] : PROOF_STEPS), COMPLETE, READY]
  }

  start(): void {
    const { text, values, proof } = this.#statement
    const frames = [
      ...statementOf(text, values, PORTAL),
      PgProtocol.encodeDescribe({ target: "portal", name: PORTAL }),
      ...(proof === null ? [] : [...statementOf(proof.text, proof.values, ""), execute("")]),
      execute(PORTAL),
      PgProtocol.encodeSync(),
    ]
    this.#session.wire.takeOver(this)
    this.#session.wire.send(Buffer.concat(frames))
  }

  /** The next rows. One call at a time. */
  next(): Promise<Streamed<Batch>> {
    return new Promise((resolve) => {
      this.#wanted = resolve
      this.#give()
      if (this.#wanted !== undefined) this.#session.wire.goOn()
    })
  }

  /** Ends the connection after a statement whose remaining rows are not wanted. */
  end(): void {
    if (!this.#isDone) this.#session.cancel()
    this.#session.wire.destroy()
  }

  receive(chunk: Uint8Array): void {
    try {
      this.#session.frames.push(chunk, this)
    } catch (cause) {
      return void this.#session.wire.destroy(cause instanceof Error ? cause : new ProtocolError(String(cause)))
    }
    if (this.#batch.isEnough) this.#passOn()
    this.#give()
    if (this.#batches.length > 0 && !this.#isDone) this.#session.wire.hold()
  }

  lost(cause: Error): void {
    this.#isDone = true
    this.#ended ??= Result.fail(lostBy(cause))
    this.#give()
  }

  mostBytes(type: number): number {
    return mostBytesOf(type, this.#batch.mostBytes)
  }

  skipped(type: number): void {
    if (isLongRow(type)) this.#endBy(Result.succeed("too long"))
  }

  read(type: number, bytes: DataView, start: number, end: number): boolean {
    if (type === ERROR) {
      this.#endBy(Result.fail(failureOf(errorFields(bytes, start, end))))
      return true
    }
    if (isAside(type) || this.#ended !== undefined) return true
    if (type === ROW) {
      this.#row(bytes, start, end)
      return true
    }
    if (this.#steps[this.#step] !== type) throw new ProtocolError(`Unexpected message ${String.fromCharCode(type)}`)
    if (type === COLUMNS && !hasTypes(bytes, start, end, this.#statement.types)) this.#endBy(Result.succeed("other"))
    if (type === COMPLETE && this.#isInProof && this.#version !== this.#statement.version) {
      this.#endBy(Result.succeed("other"))
    }
    if (type === READY) this.#endBy(Result.succeed("end"))
    this.#step++
    return true
  }

  get #isInProof(): boolean {
    return this.#step < this.#steps.length - 2
  }

  #row(bytes: DataView, start: number, end: number): void {
    if (this.#steps[this.#step] !== COMPLETE) throw new ProtocolError("Unexpected row")
    if (this.#isInProof) {
      this.#version = versionIn(bytes, start, end)
      return
    }
    let added = this.#batch.add(bytes, start, end)
    if (added === "full") {
      this.#passOn()
      added = this.#batch.add(bytes, start, end)
    }
    if (added !== "more") throw new ProtocolError("A row is not what the statement returns")
  }

  #passOn(): void {
    this.#batches.push(this.#batch)
    this.#batch = this.#begin()
  }

  /** Later messages are ignored. */
  #endBy(how: Streamed<Batch>): void {
    if (this.#ended !== undefined) return
    if (!this.#batch.isEmpty) this.#passOn()
    this.#ended = how
    this.#isDone = Result.isSuccess(how) && how.success === "end"
  }

  #give(): void {
    const wanted = this.#wanted
    const next = wanted === undefined ? undefined : (this.#batches.shift() ?? this.#ended)
    if (wanted === undefined || next === undefined) return
    this.#wanted = undefined
    wanted(Result.isResult(next) ? next : Result.succeed(next))
  }
}

const statementOf = (query: string, parameters: ReadonlyArray<string>, portal: string): ReadonlyArray<Uint8Array> => [
  Result.getOrThrow(PgProtocol.encodeParse({ name: "", query, parameterTypes: [] })),
  Result.getOrThrow(bind({ portal, statement: "", parameters })),
]

const execute = (portal: string): Uint8Array => PgProtocol.encodeExecute({ portal, maxRows: 0 })

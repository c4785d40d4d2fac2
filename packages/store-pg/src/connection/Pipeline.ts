/**
 * The statements of one exchange, sent without waiting for one another's responses, and the responding messages, in
 * order. Nothing is written before `sync`, `fetch` or `endEarly`.
 */
import { PgProtocol } from "@effect/sql-pg"
import { Result } from "effect"
import { ProtocolError } from "./FrameReader.ts"
import { bind, BOUND, CLOSED, COLUMNS, COMPLETE, PARSED, READY } from "./Messages.ts"
import type { WireSession } from "./Wires.ts"

const SYNC = PgProtocol.encodeSync()
const FLUSH = PgProtocol.encodeFlush()
const DESCRIBE = PgProtocol.encodeDescribe({ target: "portal", name: "" })
const EXECUTE = PgProtocol.encodeExecute({ portal: "", maxRows: 0 })

export class Pipeline {
  readonly #session: WireSession
  #frames: Array<Uint8Array> = []
  /** The expected messages, apart from rows; the next one is at `#step`. */
  #steps: Array<number> = []
  #step = 0
  /** The names of the statements that are being prepared, by their text. */
  readonly #parsing = new Map<string, string>()
  #reuses = false
  #isSynced = false

  constructor(session: WireSession) {
    this.#session = session
  }

  /** Whether a statement was bound that an earlier exchange prepared. */
  get reuses(): boolean {
    return this.#reuses
  }

  /** Whether the end of the transaction has been sent. */
  get isSynced(): boolean {
    return this.#isSynced
  }

  /** The type of the next expected message, apart from rows. */
  get next(): number | undefined {
    return this.#steps[this.#step]
  }

  /** Starts over; closes unused statements first. */
  begin(): void {
    const closes = this.#session.prepared.takeCloses()
    this.#frames = [...closes]
    this.#steps = closes.map(() => CLOSED)
    this.#step = 0
    this.#isSynced = false
  }

  /** Parse if the statement is not prepared, and Bind. Returns whether it is parsed. */
  bind(text: string, values: ReadonlyArray<string>, replan: boolean): boolean {
    const { prepared } = this.#session
    // Another statement of this exchange may be the one that prepares it.
    const parsing = replan ? undefined : this.#parsing.get(text)
    const known = parsing ?? (replan ? undefined : prepared.nameOf(text))
    const name = known ?? (replan ? "" : prepared.newName())
    if (known === undefined) {
      this.#frames.push(Result.getOrThrow(PgProtocol.encodeParse({ name, query: text, parameterTypes: [] })))
      this.#steps.push(PARSED)
      if (!replan) this.#parsing.set(text, name)
    } else if (parsing === undefined) this.#reuses = true
    this.#frames.push(Result.getOrThrow(bind({ portal: "", statement: name, parameters: values })))
    this.#steps.push(BOUND)
    return known === undefined
  }

  /** Requests the columns of the bound statement. */
  describe(): void {
    this.#frames.push(DESCRIBE)
    this.#steps.push(COLUMNS)
  }

  /** Fetches all rows of the bound statement. */
  execute(): void {
    this.#frames.push(EXECUTE)
    this.awaitRows()
  }

  /** The rows of the bound statement are fetched a few at a time. */
  awaitRows(): void {
    this.#steps.push(COMPLETE)
  }

  /** Sends the pending messages, and fetches the given number of rows. */
  fetch(maxRows: number): void {
    this.#frames.push(PgProtocol.encodeExecute({ portal: "", maxRows }), FLUSH)
    this.#send()
  }

  /** Sends the pending messages, and the end of the transaction. */
  sync(): void {
    this.#steps.push(READY)
    this.endEarly()
  }

  /** The same, without waiting for the messages before its response. */
  endEarly(): void {
    this.#isSynced = true
    this.#frames.push(SYNC)
    this.#send()
  }

  #send(): void {
    this.#session.wire.send(Buffer.concat(this.#frames))
    this.#frames = []
  }

  /** A message has come. */
  expect(type: number): void {
    if (this.next !== type) throw unexpected(type)
    this.#step++
  }

  /** Confirms a statement being prepared: later exchanges use it. */
  keep(text: string): void {
    const name = this.#parsing.get(text)
    if (name === undefined) return
    this.#session.prepared.add(text, name)
    this.#parsing.delete(text)
  }

  /** Closes a prepared statement that was not kept. */
  closeUnkept(): void {
    for (const name of this.#parsing.values()) this.#session.prepared.close(name)
    this.#parsing.clear()
  }
}

export const unexpected = (type: number): ProtocolError =>
  new ProtocolError(`Unexpected message ${String.fromCharCode(type)}`)

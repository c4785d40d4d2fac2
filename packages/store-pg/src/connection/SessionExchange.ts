/**
 * An exchange of messages in a session that is used for nothing else until it has ended, and ends when the session is idle: the
 * caller continues only then.
 *
 * Once the caller has left, or does not want the rest, the remaining messages are discarded, and the statement is cancelled
 * unless it soon ends on its own.
 */
import type { FrameConsumer } from "./FrameReader.ts"
import { ProtocolError } from "./FrameReader.ts"
import { Pipeline } from "./Pipeline.ts"
import type { Receiver } from "./Wire.ts"
import type { WireSession } from "./Wires.ts"

/** A statement that ends on its own within this many milliseconds need not be cancelled. */
const GRACE_MILLIS = 10
/** How long a cancelled statement may go on before its session is ended. */
const DRAIN_MILLIS = 5_000

const CANCELLED = "57014"

export abstract class SessionExchange implements Receiver, FrameConsumer {
  protected readonly session: WireSession
  protected readonly pipeline: Pipeline
  #isDone = false
  /** Notifies the caller, once the connection is returned. */
  #ended: (() => void) | undefined
  /** Set once the caller has left or does not want the rest: called when the session is idle. */
  #drained: (() => void) | undefined
  #timer: NodeJS.Timeout | undefined
  #isCancelled = false

  protected constructor(session: WireSession) {
    this.session = session
    this.pipeline = new Pipeline(session)
  }

  abstract mostBytes(type: number): number
  abstract skipped(type: number): void
  abstract read(type: number, bytes: DataView, start: number, end: number): boolean

  /** Sends the first messages. */
  protected abstract begin(): void
  /** Notifies the caller that the connection was lost. */
  protected abstract resumeLost(cause: Error): void
  /** Ends a call that is aborted. */
  protected abstract resumeAborted(): void

  start(): void {
    this.session.wire.takeOver(this)
    if (!this.#isDone) this.begin()
  }

  receive(chunk: Uint8Array): void {
    let end: number
    try {
      end = this.session.frames.push(chunk, this)
    } catch (cause) {
      return void this.session.wire.destroy(cause instanceof Error ? cause : new ProtocolError(String(cause)))
    }
    const ended = this.#ended
    if (ended === undefined) return
    this.#ended = undefined
    this.session.frames.rest()
    // Done before the caller continues, because the caller may use the session through the driver.
    this.session.wire.giveBack(chunk.subarray(end))
    ended()
  }

  lost(cause: Error): void {
    if (this.#isDone) return
    this.end(() => this.resumeLost(cause))
    this.#ended?.()
  }

  /** Ends the statement for a caller that no longer waits; ends when the session is at rest. */
  abort(): void {
    if (this.#isDone) return
    const drained = () => this.resumeAborted()
    if (this.#drained === undefined) this.drain(drained)
    else this.#drained = drained
  }

  /** Whether the remaining messages are only discarded. */
  protected get isDraining(): boolean {
    return this.#drained !== undefined
  }

  /** `resume` continues the caller, unless it has left. */
  protected end(resume: () => void): void {
    this.#isDone = true
    clearTimeout(this.#timer)
    this.#ended = this.#drained ?? resume
  }

  /** Discards the statement's remaining output, and cancels it if that does not end soon; then calls `drained`. */
  protected drain(drained: () => void): void {
    this.#drained = drained
    if (!this.pipeline.isSynced) this.pipeline.endEarly()
    this.#timer = setTimeout(() => {
      this.#isCancelled = true
      this.session.cancel()
      this.#timer = setTimeout(() => this.session.wire.destroy(new Error("Query cancellation timed out")), DRAIN_MILLIS)
    }, GRACE_MILLIS)
  }

  /**
   * Ends the session if its statement ended in another way than by the requested cancel: a request that was not
   * confirmed may still reach the session's next statement. The caller continues once the driver knows that the
   * session has ended.
   */
  protected endUnlessCancelled(state: string | undefined): void {
    if (!this.#isCancelled || state === CANCELLED) return
    const { wire } = this.session
    const ended = this.#ended
    this.#ended = () => undefined
    wire.once("close", () => ended?.())
    wire.destroy()
  }
}

/**
 * Reads the body of a request as it arrives, within limits of size and time. It starts before the body is requested,
 * and reads as much as Node would buffer anyway. Many senders do not wait for the response, and when they hang up, Node
 * discards the unread part, even if all of it has arrived.
 *
 * Refuses too many bytes, a sender that is too slow or disconnects, and more unfinished bodies than memory allows.
 */
import type { Readable } from "node:stream"
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import type { Timer, TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Result } from "effect"
import { interrupted, bodyBufferFull, tooLarge, tooSlow, type BodyReadError, bodyConsumed } from "./BodyReadError.ts"
import type { BodyBudget, Limits } from "./BodyLimits.ts"
import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"
import type { Request } from "../server/Request.ts"

/** Bytes read before the body is requested; as large as Node's own buffer for a request. */
const READ_AHEAD_BYTES = 65_536

export type WholeBody = Result.Result<Uint8Array, BodyReadError>

export interface Body {
  /** All bytes as received. After a failure the connection closes with the response, and the rest is not read. */
  readonly whole: () => Promise<WholeBody>
  /** Releases a body that will not be read. */
  readonly drop: () => void
}

export class IncomingBody implements Body, Timer {
  readonly #source: Readable
  readonly #limits: Limits
  readonly #budget: BodyBudget
  readonly #wheel: TimerWheel
  readonly #gathered = new ChunkBuffer()
  #isRead = false
  #outcome: WholeBody | undefined
  /** The caller that waits for the whole body. */
  #wanted: ((outcome: WholeBody) => void) | undefined
  /** While a caller waits: the deadline of the next byte, and that of the whole body. */
  #idleBy: Deadline = 0
  #totalBy: Deadline = 0
  #stopWatch = (): void => {}

  /** `reads`: whether to read ahead before the body is requested. */
  constructor(source: Readable, limits: Limits, budget: BodyBudget, wheel: TimerWheel, reads: boolean) {
    this.#source = source
    this.#limits = limits
    this.#budget = budget
    this.#wheel = wheel
    if (source.destroyed) this.#outcome = Result.fail(interrupted())
    else if (reads) this.#read()
  }

  get deadline(): Deadline {
    return Math.min(this.#idleBy, this.#totalBy)
  }

  readonly whole = async (): Promise<WholeBody> => {
    if (this.#outcome !== undefined) return this.#outcome
    return new Promise((resolve) => {
      const now = this.#wheel.now()
      this.#wanted = resolve
      this.#idleBy = now + this.#limits.idle
      this.#totalBy = now + this.#limits.total
      this.#stopWatch = this.#wheel.watch(this)
      if (!this.#isRead) this.#read()
      this.#source.resume()
    })
  }

  readonly drop = (): void => {
    if (this.#outcome === undefined) this.#settle(Result.fail(interrupted()))
  }

  readonly expire = (): void => this.#settle(Result.fail(tooSlow()))

  #read(): void {
    this.#isRead = true
    this.#source.on("end", this.#onEnd).on("error", this.#onBreak).on("close", this.#onBreak).on("data", this.#onData)
  }

  readonly #onData = (chunk: Uint8Array): void => {
    const limits = this.#limits
    const length = this.#gathered.length + chunk.byteLength
    if (length > limits.maxBytes) return this.#settle(Result.fail(tooLarge(limits.maxBytes)))
    if (this.#budget.held + chunk.byteLength > limits.buffered) return this.#settle(Result.fail(bodyBufferFull()))
    this.#budget.held += chunk.byteLength
    this.#gathered.add(chunk)
    if (this.#wanted !== undefined) this.#idleBy = this.#wheel.now() + limits.idle
    else if (length >= READ_AHEAD_BYTES) this.#source.pause()
  }

  readonly #onEnd = (): void => this.#settle(Result.succeed(this.#gathered.bytes()))

  readonly #onBreak = (): void => this.#settle(Result.fail(interrupted()))

  #settle(outcome: WholeBody): void {
    this.#outcome = outcome
    this.#stopWatch()
    this.#budget.held -= this.#gathered.length
    this.#source
      .off("data", this.#onData)
      .off("end", this.#onEnd)
      .off("error", this.#onBreak)
      .off("close", this.#onBreak)
      .pause()
    this.#wanted?.(outcome)
  }
}

/** A small part of the body may be read ahead; see `IncomingBody`. */
export const bodyOf = (request: Request, limits: Limits, budget: BodyBudget, wheel: TimerWheel): Body => {
  const { headers } = request
  const declared = headers["content-length"]
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return { whole: async () => Result.fail(tooLarge(limits.maxBytes)), drop: () => {} }
  }
  const { body } = request
  if (body === undefined || body.readableEnded) return CONSUMED
  // A sender that waits for `100 Continue` gets it once its body is read (see refused/Expectation).
  return new IncomingBody(body, limits, budget, wheel, headers["expect"] === undefined)
}

/** Both the embedding program's log and the client get the message: usually the same developer reads both. */
const CONSUMED: Body = { whole: () => Promise.reject(bodyConsumed()), drop: () => {} }

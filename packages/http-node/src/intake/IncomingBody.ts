/**
 * The body of a request to Node's server. It takes in what comes first before anybody asked for it, up to what Node would
 * hold anyway: many senders do not wait for an answer, and Node throws away what is unread when they hang up, though all
 * of it had arrived.
 */
import type { IncomingMessage } from "node:http"
import type { Ask } from "@data-cabinet/core/runtime/Course"
import type { TimerWheel, Timer } from "@data-cabinet/core/runtime/TimerWheel"
import { Exit } from "effect"
import { brokenOff, consumed, bodyBufferFull, tooLarge, tooSlow, type Unread } from "./BodyError.ts"
import type { BodyBudget, Limits } from "./BodyLimits.ts"
import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"

/** Bytes taken in before the body is asked for; Node's own buffer for a request is as large. */
const AHEAD = 65_536

type Outcome = Exit.Exit<Uint8Array, Unread>

export interface Body {
  /** All bytes as received. After a failure the connection is closed with the answer, and the rest is not read. */
  readonly whole: Ask<Uint8Array, Unread>
  /** Lets go of a body that nobody is going to read after all. */
  readonly drop: () => void
}

export class IncomingBody implements Body {
  readonly #source: IncomingMessage
  readonly #limits: Limits
  readonly #budget: BodyBudget
  readonly #ends: TimerWheel
  readonly #gathered = new ChunkBuffer()
  #outcome: Outcome | undefined
  #wanted: ((outcome: Outcome) => void) | undefined
  #idle: Timer | undefined
  #total: Timer | undefined

  constructor(source: IncomingMessage, limits: Limits, budget: BodyBudget, ends: TimerWheel) {
    this.#source = source
    this.#limits = limits
    this.#budget = budget
    this.#ends = ends
    if (source.readableEnded) this.#outcome = consumed
    else if (source.destroyed) this.#outcome = Exit.fail(brokenOff())
    else source.on("end", this.#onEnd).on("error", this.#onBreak).on("close", this.#onBreak).on("data", this.#onData)
  }

  readonly whole: Body["whole"] = (answer) => {
    if (this.#outcome === undefined) {
      this.#wanted = answer
      this.#idle = this.#ends.begin(this.#limits.idle, this.#onSlow)
      this.#total = this.#ends.begin(this.#limits.total, this.#onSlow)
      this.#source.resume()
    } else answer(this.#outcome)
    return this.drop
  }

  readonly drop = (): void => {
    if (this.#outcome === undefined) this.#settle(Exit.fail(brokenOff()))
  }

  readonly #onData = (chunk: Uint8Array): void => {
    const limits = this.#limits
    const length = this.#gathered.length + chunk.byteLength
    if (length > limits.maxBytes) return this.#settle(Exit.fail(tooLarge(limits.maxBytes)))
    if (this.#budget.held + chunk.byteLength > limits.buffered) return this.#settle(Exit.fail(bodyBufferFull()))
    this.#budget.held += chunk.byteLength
    this.#gathered.add(chunk)
    this.#idle?.renew()
    if (this.#wanted === undefined && length >= AHEAD) this.#source.pause()
  }

  readonly #onEnd = (): void => this.#settle(Exit.succeed(this.#gathered.bytes()))

  readonly #onBreak = (): void => this.#settle(Exit.fail(brokenOff()))

  readonly #onSlow = (): void => this.#settle(Exit.fail(tooSlow()))

  #settle(outcome: Outcome): void {
    this.#outcome = outcome
    this.#idle?.end()
    this.#total?.end()
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

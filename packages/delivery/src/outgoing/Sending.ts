/**
 * A request sent whole, and the beginning of its response: everything within one deadline. A kept-alive connection that
 * the other side was just closing does not count as a failure of the address: the request is sent once more, on a new
 * connection.
 */
import type { ClientIdentity } from "@data-cabinet/core/delivery/ClientIdentity"
import { runAll, batcher } from "@data-cabinet/core/runtime/Batcher"
import { type Clock, Effect } from "effect"
import type { Connections, Target } from "./Connections.ts"
import { type ResponseHead, Exchange, type ExchangeListener, type OutgoingRequest } from "./Exchange.ts"
import { OutgoingError } from "./OutgoingError.ts"

export interface WholeRequest extends OutgoingRequest {
  /** With which the client identifies itself, if the server demands it. */
  readonly identity?: ClientIdentity
  /** Covers name lookup, connection, request and response. */
  readonly deadlineMillis: number
  /** The maximum number of bytes of the body to read, and of those to return. */
  readonly readBytes: number
  readonly keepBytes: number
  /** How long reading of the body continues once the status is known. Default 2,000. */
  readonly bodyMillis?: number
}

/** The beginning of the body, as far as it arrived: once there is a status, nothing that follows is an error. */
export interface WholeResponse extends ResponseHead {
  readonly body: Uint8Array
}

/** The error of a missed deadline, in words. */
export const tooLate = (millis: number, peer: string | null) =>
  new OutgoingError({
    code: "timeout",
    message: `${peer === null ? "no connection" : "no response"} within ${millis / 1000} s`,
    peer,
  })

const NOTHING = new Uint8Array()

class Sending implements ExchangeListener {
  readonly #connections: Connections
  readonly #target: Target
  readonly #request: WholeRequest
  readonly #clock: Clock.Clock
  readonly #ended: (response: Effect.Effect<WholeResponse, OutgoingError>) => void
  readonly #until: number
  readonly #pieces: Array<Uint8Array> = []
  #kept = 0
  #read = 0
  #head: ResponseHead | null = null
  #exchange: Exchange | null = null
  #timer: NodeJS.Timeout
  #again = false
  #done = false

  constructor(
    connections: Connections,
    target: Target,
    request: WholeRequest,
    began: number,
    clock: Clock.Clock,
    ended: (response: Effect.Effect<WholeResponse, OutgoingError>) => void,
  ) {
    this.#connections = connections
    this.#target = target
    this.#request = request
    this.#clock = clock
    this.#ended = ended
    this.#until = began + request.deadlineMillis
    this.#timer = setTimeout(this.#late, Math.max(1, this.#until - clock.currentTimeMillisUnsafe()))
  }

  begin(): void {
    if (this.#done) return
    this.#begin(false)
  }

  head(head: ResponseHead): void {
    this.#head = head
    // Most responses end in the same read as their head.
    queueMicrotask(this.#awaitBody)
  }

  piece(piece: Uint8Array): boolean {
    const room = this.#request.keepBytes - this.#kept
    // The parser reuses its buffer.
    if (room > 0) this.#pieces.push(new Uint8Array(piece.subarray(0, room)))
    this.#kept += Math.min(room, piece.length)
    this.#read += piece.length
    return this.#read < this.#request.readBytes
  }

  end(whole: boolean): void {
    if (whole) this.#connections.keep(this.#exchange!.connection, this.#clock.currentTimeMillisUnsafe())
    this.#succeed()
  }

  fail(error: OutgoingError): void {
    if (this.#head !== null) return this.#succeed()
    if (error.code === "no_connection" && !this.#again && this.#exchange?.reused === true && !this.#done) {
      this.#again = true
      return this.#begin(true)
    }
    this.#finish(Effect.fail(error))
  }

  /** Aborts it in any state. */
  readonly stop = (): void => {
    this.#done = true
    clearTimeout(this.#timer)
    this.#exchange?.abort()
  }

  readonly #awaitBody = (): void => {
    if (this.#done) return
    clearTimeout(this.#timer)
    const left = this.#until - this.#clock.currentTimeMillisUnsafe()
    this.#timer = setTimeout(this.#late, Math.max(1, Math.min(left, this.#request.bodyMillis ?? 2000)))
  }

  readonly #late = (): void => {
    const peer = this.#exchange?.connection.peer ?? null
    this.#head ??= this.#exchange?.seenHead() ?? null
    if (this.#head === null) this.#finish(Effect.fail(tooLate(this.#request.deadlineMillis, peer)))
    else this.#succeed()
    this.#exchange?.abort()
  }

  #begin(fresh: boolean): void {
    try {
      this.#exchange = new Exchange(this.#connections.take(this.#target, fresh), this.#request, this)
    } catch (fault) {
      this.#finish(fault instanceof OutgoingError ? Effect.fail(fault) : Effect.die(fault))
    }
  }

  #succeed(): void {
    const body = this.#pieces.length === 0 ? NOTHING : new Uint8Array(Buffer.concat(this.#pieces))
    this.#finish(Effect.succeed({ ...this.#head!, body }))
  }

  #finish(response: Effect.Effect<WholeResponse, OutgoingError>): void {
    if (this.#done) return
    this.#done = true
    clearTimeout(this.#timer)
    this.#ended(response)
  }
}

/**
 * Returns a function that sends to a checked target; `began` is when the deadline began to run. All responses read in one
 * poll of the sockets are read before any of them is reported, and the requests sent because of them go out in one batch.
 */
export const sender = (connections: Connections) => {
  const begin = batcher<Sending>(queueMicrotask, (all) => {
    for (const sending of all) sending.begin()
  })
  const tell = batcher(setImmediate, runAll)
  return (target: Target, request: WholeRequest, began: number): Effect.Effect<WholeResponse, OutgoingError> =>
    Effect.clockWith((clock) =>
      Effect.callback((resume) => {
        const ended = (response: Effect.Effect<WholeResponse, OutgoingError>) => tell(() => resume(response))
        const sending = new Sending(connections, target, request, began, clock, ended)
        begin(sending)
        return Effect.sync(sending.stop)
      }),
    )
}

/**
 * One request and its response on one connection: the head as soon as it arrives, the body as it arrives, never more
 * than the reader requests. It notifies a listener by plain calls: a fiber for every step of every delivery was
 * measured to cost more than the sending itself.
 */
import type { Dispatcher } from "undici"
import type { Connection } from "./Connections.ts"
import { MAX_INFORMATIONAL } from "./LooseHead.ts"
import { describe, OutgoingError } from "./OutgoingError.ts"
import type { PhaseClock } from "./PhaseClock.ts"

export interface OutgoingRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
  /** Measures it. */
  readonly phases?: PhaseClock
}

/** Header names in lower case; a header sent twice is a list. */
export interface ResponseHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly peer: string | null
}

/** `head` at most once, then pieces, and finally either `end` or `fail`, once; `fail` may be called at any time before. */
export interface ExchangeListener {
  readonly head: (head: ResponseHead) => void
  /** True to continue, false to stop; the piece is valid only during the call. */
  readonly piece: (piece: Uint8Array) => boolean
  /** True: the response was read to its end, and the connection can be reused. */
  readonly end: (whole: boolean) => void
  readonly fail: (error: OutgoingError) => void
}

const TOO_MANY = `more than ${MAX_INFORMATIONAL} informational responses (1xx)`

export class Exchange {
  readonly connection: Connection
  /** The connection was used before, so the other side may just have been closing it. */
  readonly reused: boolean
  readonly #listener: ExchangeListener
  #controller: Dispatcher.DispatchController | null = null
  #hasHead = false
  #over = false

  constructor(connection: Connection, request: OutgoingRequest, listener: ExchangeListener) {
    this.connection = connection
    this.reused = connection.uses > 0
    this.#listener = listener
    const { body, phases } = request
    connection.phases = phases
    phases?.enter("waitMs")
    const options: Dispatcher.DispatchOptions = {
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      ...(body === undefined ? {} : { body: Buffer.from(body.buffer, body.byteOffset, body.byteLength) }),
    }
    connection.client.dispatch(options, {
      onRequestStart: (controller) => {
        this.#controller = controller
        connection.looseHead.await()
      },
      onResponseStart: (_controller, status, headers) => {
        if (status < 200) return this.#fail(this.#error("bad_response", TOO_MANY))
        connection.uses++
        phases?.enter("bodyMs")
        this.#head({ status, headers, peer: connection.peer })
      },
      onResponseData: (_controller, piece) => {
        if (!this.#over && !listener.piece(piece)) this.#end(false)
      },
      onResponseEnd: () => this.#end(true),
      onResponseError: (_controller, error) => {
        const head = this.seenHead()
        if (head !== null) this.#head(head)
        const cause = "code" in error && error.code === "UND_ERR_SOCKET" ? (connection.socketError ?? error) : error
        this.#fail(describe(cause, connection.peer, connection.isIdentified && !this.reused))
      },
    })
  }

  /**
   * The status read from a head that the parser has not accepted, because it never ended or its body's end is in doubt.
   * Null if no status was read, or if the listener has it.
   */
  seenHead(): ResponseHead | null {
    const seen = this.#hasHead ? null : this.connection.looseHead.seen()
    return seen === null ? null : { ...seen, peer: this.connection.peer }
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Aborts the exchange in any state; after its end it does nothing. */
  abort(): void {
    this.#fail(this.#error("no_connection", "the request was cancelled"))
  }

  #head(head: ResponseHead): void {
    this.#hasHead = true
    if (!this.#over) this.#listener.head(head)
  }

  #error(code: OutgoingError["code"], message: string) {
    return new OutgoingError({ code, message, peer: this.connection.peer })
  }

  #fail(error: OutgoingError): void {
    if (this.#over) return
    this.#over = true
    this.connection.destroy()
    this.#listener.fail(error)
  }

  #end(whole: boolean): void {
    if (this.#over) return
    this.#over = true
    if (!whole) this.connection.destroy()
    this.#listener.end(whole)
  }
}

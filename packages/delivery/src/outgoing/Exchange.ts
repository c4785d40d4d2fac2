/**
 * One request and its answer on one connection: the head as soon as it is there, the body as it comes, never more than
 * the reader asks for.
 */
import { Deferred, Effect } from "effect"
import type { Dispatcher } from "undici"
import type { Connection } from "./Connections.ts"
import { describe, OutgoingError } from "./OutgoingError.ts"

export interface OutgoingRequest {
  readonly method: "GET" | "POST"
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

/** Header names in lower case; a header that came twice is a list. */
export interface AnswerHead {
  readonly status: number
  readonly headers: Readonly<Record<string, string | ReadonlyArray<string> | undefined>>
  readonly peer: string | null
}

/** What takes the body: true to go on, false for enough. */
export type Sink = (chunk: Uint8Array) => boolean

/** Informational answers (1xx) before the answer; more are a storm. */
const MAX_INFORMATIONAL = 16

export class Exchange {
  readonly head: Deferred.Deferred<AnswerHead, OutgoingError> = Deferred.makeUnsafe()
  /** True: the answer was read to its end, and the connection can be used again. */
  readonly end: Deferred.Deferred<boolean, OutgoingError> = Deferred.makeUnsafe()
  readonly #connection: Connection
  #controller: Dispatcher.DispatchController | null = null
  #informational = 0

  constructor(connection: Connection, request: OutgoingRequest, sink: Sink) {
    this.#connection = connection
    const options: Dispatcher.DispatchOptions = {
      path: request.url.pathname + request.url.search,
      method: request.method,
      headers: request.headers,
      ...(request.body === undefined ? {} : { body: Buffer.from(request.body) }),
    }
    connection.client.dispatch(options, {
      onRequestStart: (controller) => {
        this.#controller = controller
      },
      onResponseStart: (_controller, status, headers) => {
        if (status >= 200) {
          connection.uses++
          Deferred.doneUnsafe(this.head, Effect.succeed({ status, headers, peer: connection.peer }))
        } else if (++this.#informational > MAX_INFORMATIONAL) {
          this.#fail(this.#error("bad_answer", `more than ${MAX_INFORMATIONAL} informational answers (1xx)`))
        }
      },
      onResponseData: (_controller, chunk) => {
        if (!sink(chunk)) this.#stop(false)
      },
      onResponseEnd: () => {
        Deferred.doneUnsafe(this.end, Effect.succeed(true))
      },
      onResponseError: (_controller, error) => this.#fail(describe(error, connection.peer)),
    })
  }

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Ends it wherever it stands. */
  abort(): void {
    this.#fail(this.#error("no_connection", "the request was given up"))
  }

  #error(code: OutgoingError["code"], message: string) {
    return new OutgoingError({ code, message, peer: this.#connection.peer })
  }

  #fail(error: OutgoingError): void {
    Deferred.doneUnsafe(this.head, Effect.fail(error))
    if (Deferred.doneUnsafe(this.end, Effect.fail(error))) this.#connection.destroy()
  }

  #stop(whole: boolean): void {
    if (Deferred.doneUnsafe(this.end, Effect.succeed(whole))) this.#connection.destroy()
  }
}

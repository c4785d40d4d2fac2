/**
 * Requests that are taken without a fiber: POSTs to what can answer them in plain calls. An answer that is whole, to a request
 * that is, is written here; whatever else becomes of one is for Effect's handler, which knows how to end it.
 */
import { IncomingMessage, ServerResponse } from "node:http"
import { known } from "@data-cabinet/core/runtime/Course"
import { Context, Effect, Exit, References, Tracer } from "effect"
import type { HttpServerResponse } from "effect/http"
import { logsRequests, type Take } from "./CabinetHttp.ts"
import { REQUEST_ID_HEADER, requestId } from "./RequestId.ts"
import type { Received } from "./Route.ts"

type Answer = Effect.Effect<HttpServerResponse.HttpServerResponse>

/** Whether somebody follows each request, by a trace or a line in the log: that takes its fiber. */
export const isWatched = (context: Context.Context<never>): boolean => {
  const traced = Context.get(context, References.TracerEnabled)
  const nobody = Context.get(Context.empty(), Tracer.Tracer)
  return (
    logsRequests(Context.get(context, References.MinimumLogLevel)) ||
    (traced && Context.get(context, Tracer.Tracer) !== nobody)
  )
}

interface Parts {
  /** How such a POST is answered; undefined where it takes a fiber. */
  readonly taking: (request: IncomingMessage) => Take | undefined
  /** Writes answers that were made together one after the other. */
  readonly write: (one: () => void) => void
  /** The context of the request with this id. */
  readonly named: (id: string) => Context.Context<never>
  /** Leaves a request, and what its answer is to be, to Effect's handler. */
  readonly finish: (request: IncomingMessage, response: ServerResponse, id: string, answer: Answer) => void
}

/** Takes a request, or says that it does not. */
export const plainly =
  ({ taking, write, named, finish }: Parts) =>
  (request: IncomingMessage, response: ServerResponse): boolean => {
    if (request.method !== "POST" || request.headers.expect !== undefined) return false
    // A framework may hand over what only looks like them.
    if (!(request instanceof IncomingMessage) || !(response instanceof ServerResponse)) return false
    const take = taking(request)
    if (take === undefined) return false
    const id = requestId(request.headers[REQUEST_ID_HEADER] as string | undefined)
    const orElse = (answer: Answer): void => finish(request, response, id, answer)
    const answered = (answer: Answer): void => {
      const text = request.complete ? textOf(answer) : undefined
      if (text === undefined) return orElse(answer)
      write(() => {
        try {
          writeText(response, text, id)
        } catch (fault) {
          orElse(Effect.die(fault))
        }
      })
    }
    try {
      take(receivedFrom(request), answered, named(id))
    } catch (fault) {
      orElse(Effect.die(fault))
    }
    return true
  }

const receivedFrom = (request: IncomingMessage): Received => ({
  method: "POST",
  url: request.url!,
  // Those that Node gives as lists are none that anybody here asks for.
  headers: request.headers as Record<string, string | undefined>,
  peer: request.socket.remoteAddress,
  body: request,
})

interface TextAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly text: string
}

const textOf = (answer: Answer): TextAnswer | undefined => {
  const exit = known(answer)
  if (exit === undefined || Exit.isFailure(exit)) return undefined
  const { status, headers, body } = exit.value
  return body._tag === "Uint8Array" && body.text !== undefined ? { status, headers, text: body.text } : undefined
}

const writeText = (response: ServerResponse, { status, headers, text }: TextAnswer, id: string): void => {
  // The program around us has answered in its own way.
  if (response.headersSent) return
  response.writeHead(status, { ...headers, [REQUEST_ID_HEADER]: id })
  response.end(text)
}

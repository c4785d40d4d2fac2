/**
 * One HTTP request and its whole response. Redirects are not followed: the token is for one server. A server may take
 * long over a request, so only the connection and a silence after a GET have a time limit.
 */
import { request as httpRequest, type IncomingMessage, type RequestOptions } from "node:http"
import { request as httpsRequest } from "node:https"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect } from "effect"

const CONNECT_TIMEOUT_MILLIS = 15_000
const READ_TIMEOUT_MILLIS = 60_000
const RETRY_SECONDS = 5

export interface HttpRequest {
  readonly method: string
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | AsyncIterable<Uint8Array> | null
}

export interface HttpResponse {
  readonly status: number
  readonly headers: IncomingMessage["headers"]
  readonly body: Buffer
}

const inWords = (cause: unknown): string => {
  if (!(cause instanceof Error)) return String(cause)
  // If every address of a host has failed, the common error's message is empty.
  const [first] = cause instanceof AggregateError ? (cause.errors as ReadonlyArray<unknown>) : []
  return first instanceof Error ? first.message : cause.message
}

const unreachable = ({ method, url }: HttpRequest, cause: unknown, sent: boolean): StoreUnavailable => {
  const outcomeUnknown = sent && method !== "GET"
  const message = outcomeUnknown
    ? `The connection to ${url.origin} was lost before it responded (${inWords(cause)}): the work may have been done`
    : `The server at ${url.origin} cannot be reached (${inWords(cause)})`
  return new StoreUnavailable({ message, retryAfter: RETRY_SECONDS, outcomeUnknown })
}

const writeBody = async (
  body: HttpRequest["body"],
  out: { write: (piece: Uint8Array, done: (error?: Error | null) => void) => boolean; end: (text?: string) => void },
): Promise<void> => {
  if (body === null || typeof body === "string") return out.end(body ?? undefined)
  for await (const piece of body) {
    await new Promise<void>((resolve, reject) => {
      out.write(piece, (error) => (error == null ? resolve() : reject(error)))
    })
  }
  out.end()
}

export const exchange = (request: HttpRequest): Effect.Effect<HttpResponse, StoreUnavailable> =>
  Effect.callback<HttpResponse, StoreUnavailable>((resume) => {
    const { method, url, headers, body } = request
    const options: RequestOptions = { method, headers, agent: false }
    const out = (url.protocol === "https:" ? httpsRequest : httpRequest)(url, options)
    let sent = false
    const fail = (cause: unknown) => resume(Effect.fail(unreachable(request, cause, sent)))
    const connecting = setTimeout(
      () => out.destroy(new Error("it did not accept a connection in time")),
      CONNECT_TIMEOUT_MILLIS,
    )
    out.on("socket", (socket) => {
      socket.once(url.protocol === "https:" ? "secureConnect" : "connect", () => {
        clearTimeout(connecting)
        sent = true
      })
      if (method === "GET") {
        socket.setTimeout(READ_TIMEOUT_MILLIS, () => out.destroy(new Error("it did not respond in time")))
      }
    })
    out.on("error", fail)
    out.on("response", (response) => {
      const pieces: Array<Buffer> = []
      response.on("data", (piece: Buffer) => pieces.push(piece))
      response.on("error", fail)
      response.on("end", () => {
        const { statusCode = 0, headers: received } = response
        resume(Effect.succeed({ status: statusCode, headers: received, body: Buffer.concat(pieces) }))
      })
    })
    writeBody(body, out).catch((cause: unknown) =>
      out.destroy(cause instanceof Error ? cause : new Error("it broke off")),
    )
    return Effect.sync(() => {
      clearTimeout(connecting)
      out.destroy()
    })
  })

/**
 * Handles a connection on which Node's parser or its timeout gives up. Node would respond with an empty 400, even in
 * place of a response in flight. Here requests that arrived complete get their usual responses first; if a body broke
 * off, its reader gets the error and responds; and bytes that are not a request get a response with an explanation.
 *
 * Decision: docs/decisions/0024-what-the-http-parser-refuses.md
 */
import type { IncomingMessage, Server, ServerResponse } from "node:http"
import type { Socket } from "node:net"
import { type ResponseFormat, formatOf, type Refusal, refusalText } from "./BadRequest.ts"
import { forwardRawTarget, type ParserError } from "./RawTarget.ts"

/** How long a sender may go on sending after its response: closing at once could destroy the response before it is read. */
const LINGER_MILLIS = 2_000

/** The latest position at which a request's path begins, unless its line is very unusual. */
const MAX_PATH_OFFSET = 300

/** Node's internals, missing from its types: the response that the socket belongs to now, and its parser. */
type Serving = Socket & {
  readonly _httpMessage?: ServerResponse | null
  readonly parser?: { readonly getCurrentBuffer?: () => Buffer }
  _unrefTimer?: () => void
}

/**
 * Responds for `server` where Node would not. `headBytes`: the limit of a request's line and headers. Returns the
 * sockets that were handed on: their new connection decides about them.
 */
export const respondToClientErrors = (
  server: Server,
  headBytes: number,
): { readonly has: (socket: Socket) => boolean } => {
  const over = new WeakSet<Socket>()
  const handedOn = new WeakSet<Socket>()
  const toIntake = new WeakSet<Socket>()
  server.on("connection", (socket: Serving) => noteFace(socket, toIntake))
  server.on("clientError", (error: ParserError, socket: Serving) => {
    if (over.has(socket)) return
    over.add(socket)
    if (!socket.writable) return void socket.destroy()
    const response = socket._httpMessage ?? undefined
    if (response === undefined && forwardRawTarget(server, socket, error)) return void handedOn.add(socket)
    respondLast(socket, error, (request) => {
      const format = formatFrom(error, request) ?? (toIntake.has(socket) ? "intake" : "api")
      end(socket, refusalText(refusalOf(error, headBytes), format))
    })
  })
  return handedOn
}

const BROKEN_OFF = "HPE_INVALID_EOF_STATE"

const refusalOf = ({ code, reason }: ParserError, headBytes: number): Refusal => {
  switch (code) {
    case "HPE_HEADER_OVERFLOW":
      return {
        status: 431,
        detail: `A request's line and headers together may have at most ${headBytes} bytes, and 2000 headers.`,
      }
    case "ERR_HTTP_REQUEST_TIMEOUT":
      return { status: 408, detail: "The request did not arrive in time." }
    case "HPE_INVALID_URL":
      return {
        status: 400,
        detail: "The URL contains a character that must be percent-encoded, such as %D0%98 for И or %20 for a space.",
      }
    case BROKEN_OFF:
      return { status: 400, detail: "The request was interrupted." }
    default:
      return { status: 400, detail: `This is not a valid HTTP request${reason === undefined ? "" : `: ${reason}`}.` }
  }
}

/** The interface addressed: by the request in flight, or by the last request line of the refused packet. */
const formatFrom = (error: ParserError, request: IncomingMessage | undefined): ResponseFormat | undefined => {
  if (request !== undefined && !request.complete) return formatOf(request.url ?? "")
  const packet = error.rawPacket?.toString("latin1") ?? ""
  const line = [...packet.matchAll(/(?:^|\n)[A-Z]{3,7} ([^\s]+)/g)].at(-1)
  return line === undefined ? undefined : formatOf(line[1]!)
}

/**
 * A head that arrives in many pieces is refused with its last one, when the first is gone. Node reports each piece as
 * activity before it checks the result of parsing it: at the first one, the beginning can still be seen.
 */
const noteFace = (socket: Serving, toIntake: WeakSet<Socket>): void => {
  const signOfLife = socket._unrefTimer
  if (signOfLife === undefined) return
  socket._unrefTimer = () => {
    socket._unrefTimer = signOfLife
    signOfLife.call(socket)
    const first = socket.parser?.getCurrentBuffer?.().toString("latin1", 0, MAX_PATH_OFFSET) ?? ""
    const target = /^\s*[A-Z]+ (\S*)/.exec(first)?.[1]
    if (target !== undefined && formatOf(target) === "intake") toIntake.add(socket)
  }
}

/**
 * Requests that arrived whole get their responses first. An incomplete one is the last of its connection, and no more of it will
 * arrive: `refuse` is called in its place, or after the others, unless a response to it has begun.
 */
const respondLast = (socket: Serving, error: ParserError, refuse: (request?: IncomingMessage) => void): void => {
  const response = socket._httpMessage ?? undefined
  if (response === undefined) refuse()
  else if (response.req.complete) {
    response.once("close", () => {
      if (socket.writable) respondLast(socket, error, refuse)
    })
  } else if (error.code === BROKEN_OFF) breakOff(response)
  else if (response.headersSent) socket.destroy()
  else refuse(response.req)
}

/** The sender closed its side in the middle of a body. The body's reader sees a lost connection, and responds. */
const breakOff = (response: ServerResponse): void => {
  response.shouldKeepAlive = false
  const { req: request } = response
  if (request.listenerCount("error") > 0) request.emit("error", new Error("The body was interrupted"))
}

const end = (socket: Socket, text: string): void => {
  const last = setTimeout(() => socket.destroy(), LINGER_MILLIS).unref()
  socket.once("close", () => clearTimeout(last))
  socket.end(text)
}

/**
 * `(req, res)` of node:http and of frameworks built on it. The only code that knows these types. A response is written
 * whole, or not at all if the surrounding program has already responded or the client has disconnected.
 */
import { type IncomingMessage, ServerResponse } from "node:http"
import { pipeline, Readable } from "node:stream"
import type { Context } from "effect"
import { errorResponse } from "./ApiError.ts"
import { faultError, logFault } from "./Fault.ts"
import { type Response, type Handler, isStream, type Request, RequestGone } from "./Request.ts"
import { REQUEST_ID_HEADER, requestId, withRequestId } from "./RequestId.ts"
import { streamingResponses, waitingResponses } from "./StreamingResponses.ts"
import { closesConnection, endUnreadBody } from "./UnreadBody.ts"

/** A request listener, which lives as long as its handler. */
export const nodeAdapter =
  ({ handle, stopped }: Handler, context: Context.Context<never>) =>
  (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    const request = new NodeRequest(incoming, outgoing, context)
    handle(request).then(
      (response) => respond(request, incoming, outgoing, response),
      (reason: unknown) => {
        if (!(reason instanceof RequestGone))
          return respond(request, incoming, outgoing, faultResponse(request, reason))
        // The client may still be connected if the server itself is stopping.
        respond(request, incoming, outgoing, stopped(request))
      },
    )
  }

class NodeRequest implements Request {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly host: string | undefined
  readonly headers: Readonly<Record<string, string | undefined>>
  readonly body: Readable
  context: Context.Context<never>
  readonly #response: ServerResponse
  #leaving: Set<() => void> | undefined

  constructor(incoming: IncomingMessage, outgoing: ServerResponse, context: Context.Context<never>) {
    // No code here reads the headers that Node returns as lists.
    const headers = incoming.headers as Record<string, string | undefined>
    const target = absoluteTarget(incoming.url!)
    this.id = requestId(headers[REQUEST_ID_HEADER])
    this.method = incoming.method!
    this.url = target === undefined ? incoming.url! : target.pathname + target.search
    this.host = target?.host ?? headers["host"] ?? headers[":authority"]
    this.headers = headers
    this.body = incoming
    this.context = withRequestId(context, this.id)
    this.#response = outgoing
  }

  get peer(): string | undefined {
    return (this.body as IncomingMessage).socket?.remoteAddress
  }

  get original(): unknown {
    return this.body
  }

  onGone(leave: () => void): () => void {
    const leaving = (this.#leaving ??= this.#whenGone())
    leaving.add(leave)
    return () => leaving.delete(leave)
  }

  /** One listener for all: Node warns of more than ten, and a screen may wait for more calls than that. */
  #whenGone(): Set<() => void> {
    const leaving = new Set<() => void>()
    this.#response.once("close", () => {
      if (!this.#response.writableEnded) for (const leave of leaving) leave()
    })
    return leaving
  }

  onStop(end: () => void): () => void {
    waitingResponses.set(this.#response, end)
    return () => void waitingResponses.delete(this.#response)
  }
}

/** `GET http://host/path`, the form sent to proxies: its host takes precedence over the header's (RFC 9112, 3.2.2). */
const absoluteTarget = (url: string): URL | undefined =>
  /^https?:\/\//i.test(url) && URL.canParse(url) ? new URL(url) : undefined

const faultResponse = (request: Request, fault: unknown): Response =>
  errorResponse(faultError(logFault({ path: "/" }, fault, request.context)))

const respond = (request: Request, incoming: IncomingMessage, outgoing: ServerResponse, response: Response): void => {
  if (outgoing.headersSent || outgoing.writableEnded || outgoing.destroyed) return
  try {
    write(request, incoming, outgoing, response)
  } catch (fault) {
    const instead = faultResponse(request, fault)
    if (outgoing.headersSent) outgoing.destroy()
    else write(request, incoming, outgoing, instead)
  }
}

const write = (
  { id, method }: Request,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { status, headers: own, cookies, body, sent, streaming }: Response,
): void => {
  const headers: Record<string, string> = { ...own, [REQUEST_ID_HEADER]: id }
  const pieces = isStream(body) ? body : undefined
  if (pieces === undefined && body !== null) headers["content-length"] = String(Buffer.byteLength(body as Uint8Array))
  if (!incoming.complete) {
    if (closesConnection(incoming)) headers["connection"] = "close"
    endUnreadBody(incoming, outgoing)
  }
  // HTTP/2 has no such header.
  if (incoming.httpVersionMajor === 2) delete headers["connection"]
  if (cookies !== undefined) outgoing.setHeader("set-cookie", cookies)
  outgoing.writeHead(status, headers)
  if (body === null || method === "HEAD") outgoing.end()
  else if (pieces !== undefined) {
    // A client that reads nothing would tie up the body's resources.
    outgoing.setTimeout(STALLED_MILLIS, () => outgoing.destroy())
    if (streaming === true) streamingResponses.add(outgoing)
    // A failure destroys the socket, and with it the message; the body's writer has logged it.
    pipeline(Readable.from(pieces, { objectMode: false }), outgoing, () => {})
  } else if (typeof body === "string") outgoing.end(body)
  else {
    const bytes = body as Uint8Array
    // Node reports the end of a message even if its client has disconnected.
    const ended = sent && isOurs(outgoing) ? () => void (incoming.socket.destroyed || sent()) : undefined
    if (bytes.length > SHORT_BODY_BYTES) outgoing.end(bytes, ended)
    else outgoing.end(latin1(bytes), "latin1", ended)
  }
}

/** Whether no other code sees the bytes: a framework's cache may keep those that it was given. */
const isOurs = (outgoing: ServerResponse): boolean =>
  (["end", "write"] as const).every((act) => outgoing[act] === ServerResponse.prototype[act])

/** How long a client may read nothing of a body in pieces. */
const STALLED_MILLIS = 60_000

/**
 * Up to this many bytes are written as text with one character for each: Node writes the head and a text in one piece,
 * but the head and bytes in two. For 1 to 5 KB this saves a tenth of the cost of sending. A longer text costs more than
 * it saves.
 */
const SHORT_BODY_BYTES = 8_192

const latin1 = ({ buffer, byteOffset, length }: Uint8Array): string =>
  Buffer.from(buffer, byteOffset, length).toString("latin1")

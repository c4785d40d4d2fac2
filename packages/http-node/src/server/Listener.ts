/** A listening socket with limits that keep slow and idle senders from tying it up. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { batcher } from "@data-cabinet/core/runtime/Batcher"
import { LiveSet } from "@data-cabinet/core/runtime/LiveSet"
import { Context, Effect, Layer, Schema } from "effect"
import { streamingResponses, waitingResponses } from "./StreamingResponses.ts"
import { formatOf, refusalResponse } from "../parser/BadRequest.ts"
import { handleExpectations } from "../parser/Expectation.ts"
import { isReplayed } from "../parser/RawTarget.ts"
import { hostHeaderRefusal } from "../parser/HostHeader.ts"
import { respondToClientErrors } from "../parser/ClientErrors.ts"

export interface ListenOptions {
  /** 0 for any free port. */
  readonly port: number
  readonly host: string
  /** How long requests in flight may take after the server stops, in milliseconds. */
  readonly drainMillis?: number
  /** Called when the server begins to stop; returns for how many more milliseconds it accepts requests. */
  readonly noticeMillis?: () => number
  /** Whether other processes of the same server listen on this port and share its connections. */
  readonly shared?: boolean
}

/** Whether a server is about to stop. Load balancers learn it from the readiness check. */
export interface Stopping {
  begun: boolean
}

/** The address could not be bound. */
export class ListenError extends Schema.TaggedError<ListenError>()("ListenError", {
  code: Schema.Literals(["address_in_use", "not_permitted", "no_such_address", "other"]),
  host: Schema.String,
  port: Schema.Int,
  message: Schema.String,
}) {}

const HEADERS_MILLIS = 15_000
const REQUEST_MILLIS = 300_000
// Longer than the idle timeout of common proxies, so that the proxy closes first.
const KEEP_ALIVE_MILLIS = 75_000
// A selection of 300 columns makes an address of some 60 KB.
const HEADER_BYTES = 98_304
const MAX_CONNECTIONS = 10_000
const DRAIN_MILLIS = 10_000

export type Handler = (request: IncomingMessage, response: ServerResponse) => void

/** Where the server listens. */
export class Listener extends Context.Service<Listener, { readonly host: string; readonly port: number }>()(
  "@data-cabinet/http-node/server/Listener",
) {
  /**
   * Stops in three steps. Notice: `stopping` is set, every response closes its connection, new requests are still accepted.
   * Drain: no new connections, requests in flight get their responses. Then the remaining connections are cut.
   */
  static readonly layer = (
    handler: Handler,
    options: ListenOptions,
    stopping: Stopping = { begun: false },
  ): Layer.Layer<Listener, ListenError> =>
    Layer.effect(
      Listener,
      Effect.gen(function* () {
        const open = new LiveSet<ServerResponse>()
        // Runs after the sockets were polled and before any disconnect is reported: the request of a sender that has hung
        // up is still read.
        const handle = batcher<readonly [IncomingMessage, ServerResponse]>(setImmediate, (all) => {
          for (const [request, response] of all) handler(request, response)
        })
        const server = createServer(
          {
            headersTimeout: HEADERS_MILLIS,
            requestTimeout: REQUEST_MILLIS,
            keepAliveTimeout: KEEP_ALIVE_MILLIS,
            connectionsCheckingInterval: 5_000,
            maxHeaderSize: HEADER_BYTES,
            // Checked in our own code below, with a readable error.
            requireHostHeader: false,
          },
          (request, response) => {
            const fault = hostHeaderRefusal(request)
            if (fault !== undefined) {
              const { body, headers } = refusalResponse(fault, formatOf(request.url!))
              response.writeHead(fault.status, headers).end(body)
              return
            }
            response.once("close", open.add(response))
            if (stopping.begun || isReplayed(request.socket)) response.shouldKeepAlive = false
            handle([request, response])
          },
        )
        server.maxConnections = MAX_CONNECTIONS
        handleExpectations(server)
        respondHalfClosed(server, respondToClientErrors(server, HEADER_BYTES))
        yield* Effect.acquireRelease(listen(server, options), () =>
          Effect.suspend(() => {
            stopping.begun = true
            open.forEach((response) => (response.shouldKeepAlive = false))
            const notice = options.noticeMillis?.() ?? 0
            const endStreams = Effect.sync(() =>
              open.forEach((response) => {
                if (streamingResponses.has(response)) response.end()
                waitingResponses.get(response)?.()
              }),
            )
            const drained = Effect.andThen(endStreams, drain(server, options.drainMillis ?? DRAIN_MILLIS))
            return notice > 0 ? Effect.andThen(Effect.sleep(notice), drained) : drained
          }),
        )
        const { address, port } = server.address() as AddressInfo
        return { host: address, port }
      }),
    )
}

/**
 * Platforms whose kernel spreads connections over processes. Elsewhere Node's cluster hands them out; there, killing a
 * process can leave a connection that was being handed to it hanging, while here it is reset.
 */
const SPREADS = process.platform === "linux" || process.platform === "freebsd"

/**
 * A sender may half-close its connection once its POST is sent (as `nc -N` does) and still wait for the response. A client
 * that sent any other request and closes has disconnected. Node would respond to neither; here only the latter is dropped.
 */
const respondHalfClosed = (server: Server, handedOn: { readonly has: (socket: Socket) => boolean }): void => {
  // Node has had this switch since its early days, but does not document it.
  Object.assign(server, { httpAllowHalfOpen: true })
  const sending = new WeakSet<Socket>()
  server.prependListener("request", ({ method, socket }: IncomingMessage) => {
    if (method === "POST") sending.add(socket)
    else sending.delete(socket)
  })
  server.on("connection", (socket: Socket) =>
    socket.on("end", () => {
      if (!sending.has(socket) && !handedOn.has(socket)) socket.end()
    }),
  )
}

const listen = (server: Server, { host, port, shared = false }: ListenOptions) =>
  Effect.callback<void, ListenError>((resume) => {
    const refuse = (error: NodeJS.ErrnoException) => resume(Effect.fail(listenError(error, host, port)))
    server.once("error", refuse)
    server.listen({ host, port, ...(shared && SPREADS ? { exclusive: true, reusePort: true } : {}) }, () => {
      server.off("error", refuse)
      resume(Effect.void)
    })
  })

const drain = (server: Server, millis: number) =>
  Effect.callback<void>((resume) => {
    const last = setTimeout(() => server.closeAllConnections(), millis)
    server.close(() => {
      clearTimeout(last)
      resume(Effect.void)
    })
    server.closeIdleConnections()
  })

const listenError = (error: NodeJS.ErrnoException, host: string, port: number): ListenError => {
  const at = `${host}:${port}`
  const make = (code: ListenError["code"], message: string) => new ListenError({ code, host, port, message })
  if (error.code === "EADDRINUSE") return make("address_in_use", `Another program already listens on ${at}.`)
  if (error.code === "EACCES")
    return make("not_permitted", `This user is not allowed to listen on ${at}; ports below 1024 are privileged.`)
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND")
    return make("no_such_address", `This machine has no address ${host} to listen on.`)
  return make("other", `Cannot listen on ${at}: ${error.message}`)
}

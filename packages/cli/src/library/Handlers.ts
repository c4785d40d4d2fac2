/**
 * The HTTP handlers of a cabinet inside a program. They count their requests in flight, and refuse new ones once it closes.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { cabinetUnavailable, stoppedResponse } from "@data-cabinet/http-node/tenancy/UnknownHost"
import * as Server from "@data-cabinet/http-node/routes/Server"
import { fetchAdapter } from "@data-cabinet/http-node/server/FetchAdapter"
import { nodeAdapter } from "@data-cabinet/http-node/server/NodeAdapter"
import type { Handler } from "@data-cabinet/http-node/server/Request"
import { Context, Effect } from "effect"
import type { InFlight } from "./InFlight.ts"

/** A listener for Node's own servers. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** A handler for frameworks based on fetch; it always responds. */
export type FetchHandler = (request: Request) => Promise<Response>

const CLOSING = new StoreUnavailable({
  message: "The cabinet is shutting down; retry in a moment.",
  retryAfter: 1,
  outcomeUnknown: false,
})

/** Needs no cabinet, so that it still responds after the cabinet is closed. */
const refusing: Handler = {
  handle: async (request) => cabinetUnavailable(request, CLOSING),
  stopped: stoppedResponse,
}

const counted =
  (handler: NodeHandler, refuse: NodeHandler, inFlight: InFlight): NodeHandler =>
  (request, response) => {
    if (inFlight.isClosing) {
      response.shouldKeepAlive = false
      return refuse(request, response)
    }
    // The sender may never complete the body; destroying the socket ends the wait at once.
    const done = inFlight.begin(() => request.destroy())
    response.once("finish", done).once("close", done)
    handler(request, response)
  }

const countedFetch =
  (handler: FetchHandler, refuse: FetchHandler, inFlight: InFlight): FetchHandler =>
  async (request) => {
    if (inFlight.isClosing) return refuse(request)
    const response = Promise.withResolvers<Response>()
    const done = inFlight.begin(() => response.resolve(refuse(request)))
    try {
      handler(request).then(response.resolve, response.reject)
      return await response.promise
    } finally {
      done()
    }
  }

/** Builds the handlers. They serve no metrics, because those belong to the program. */
export const handlers = Effect.fnUntraced(function* (inFlight: InFlight) {
  const node = yield* Server.nodeHandler({ metrics: false })
  const refuse = nodeAdapter(refusing, Context.empty())
  const viaFetch = yield* Server.fetchHandler({ metrics: false })
  const refuseFetch = fetchAdapter(refusing, Context.empty())
  return {
    nodeHandler: counted(node, refuse, inFlight),
    fetchHandler: countedFetch(viaFetch, refuseFetch, inFlight),
  }
})

/** The HTTP faces of a cabinet inside a program: what they have under way is counted, and once it closes they say so. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { cabinetUnavailable } from "@data-cabinet/http-node/tenancy/UnknownHost"
import * as Server from "@data-cabinet/http-node/server/Server"
import { fetchAdapter } from "@data-cabinet/http-node/server/FetchAdapter"
import { nodeAdapter } from "@data-cabinet/http-node/server/NodeAdapter"
import type { Handle } from "@data-cabinet/http-node/server/Request"
import { Context, Effect } from "effect"
import type { InFlight } from "./InFlight.ts"

/** A listener for Node's own servers. */
export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void

/** A handler for frameworks that speak fetch; it always answers. */
export type FetchHandler = (request: Request) => Promise<Response>

const CLOSING = new StoreUnavailable({
  message: "The cabinet is being closed; send it again in a moment.",
  retryAfter: 1,
  outcomeUnknown: false,
})

/** Needs nothing of the cabinet, so that it answers when all of that is gone. */
const refusing: Handle = async (request) => cabinetUnavailable(request, CLOSING)

const counted =
  (handler: NodeHandler, refuse: NodeHandler, underway: InFlight): NodeHandler =>
  (request, response) => {
    if (underway.isClosing) {
      response.shouldKeepAlive = false
      return refuse(request, response)
    }
    // A body may be waited for as long as a sender takes; without its socket it ends at once.
    const done = underway.begin(() => request.destroy())
    response.once("finish", done).once("close", done)
    handler(request, response)
  }

const countedFetch =
  (handler: FetchHandler, refuse: FetchHandler, underway: InFlight): FetchHandler =>
  async (request) => {
    if (underway.isClosing) return refuse(request)
    const answer = Promise.withResolvers<Response>()
    const done = underway.begin(() => answer.resolve(refuse(request)))
    try {
      handler(request).then(answer.resolve, answer.reject)
      return await answer.promise
    } finally {
      done()
    }
  }

/** The metrics of a process are its program's: they are not served here. */
export const handlers = Effect.fnUntraced(function* (underway: InFlight) {
  const node = yield* Server.nodeHandler({ metrics: false })
  const refuse = nodeAdapter(refusing, Context.empty())
  const viaFetch = yield* Server.fetchHandler({ metrics: false })
  const refuseFetch = fetchAdapter(refusing, Context.empty())
  return {
    nodeHandler: counted(node, refuse, underway),
    fetchHandler: countedFetch(viaFetch, refuseFetch, underway),
  }
})

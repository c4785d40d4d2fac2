/** The HTTP faces of a cabinet inside a program: what they have under way is counted, and once it closes they say so. */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Underway } from "./Underway.ts"

export type NodeHandler = (request: IncomingMessage, response: ServerResponse) => void
export type FetchHandler = (request: Request) => Promise<Response>

const MESSAGE = "The cabinet is being closed; send it again in a moment."
const HEADERS = { "content-type": "application/json", "cache-control": "no-store", "retry-after": "1" }

/** The same refusal in the shape of whichever face was asked. */
const refusal = (url: string): string =>
  url.includes("/webhook/")
    ? JSON.stringify({ ok: false, error: "unavailable", detail: MESSAGE })
    : JSON.stringify({ error: { type: "unavailable", code: "reader_off", message: MESSAGE, param: null } })

export const countedNodeHandler =
  (handler: NodeHandler, underway: Underway): NodeHandler =>
  (request, response) => {
    if (underway.isClosing) {
      response.writeHead(503, { ...HEADERS, connection: "close" }).end(refusal(request.url ?? ""))
      return
    }
    // A body may be waited for as long as a sender takes; without its socket it ends at once.
    const done = underway.begin(() => request.destroy())
    response.once("finish", done).once("close", done)
    handler(request, response)
  }

export const countedFetchHandler =
  (handler: FetchHandler, underway: Underway): FetchHandler =>
  async (request) => {
    const refuse = () => new Response(refusal(request.url), { status: 503, headers: HEADERS })
    if (underway.isClosing) return refuse()
    const answer = Promise.withResolvers<Response>()
    const done = underway.begin(() => answer.resolve(refuse()))
    try {
      handler(request).then(answer.resolve, answer.reject)
      return await answer.promise
    } finally {
      done()
    }
  }

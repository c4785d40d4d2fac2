/** Responses without an end of their own, such as event streams: a server that stops ends them first, and their clients reconnect. */
import type { ServerResponse } from "node:http"

export const streamingResponses = new WeakSet<ServerResponse>()

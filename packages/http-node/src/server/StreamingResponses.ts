/**
 * Responses that a stopping server ends instead of waiting for them: their clients reconnect, to it or to another.
 * Endless ones, such as event streams, are closed; requests that only wait for something stop waiting.
 */
import type { ServerResponse } from "node:http"

export const streamingResponses = new WeakSet<ServerResponse>()

/** Ends the wait of the response's request. */
export const waitingResponses = new WeakMap<ServerResponse, () => void>()

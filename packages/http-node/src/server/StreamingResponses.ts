/**
 * Responses that a server which stops does not wait for, but ends first: their clients come back, to it or to another. Those
 * without an end of their own, such as event streams, are closed; requests that only wait for something stop waiting.
 */
import type { ServerResponse } from "node:http"

export const streamingResponses = new WeakSet<ServerResponse>()

/** Ends the wait of the response's request. */
export const waitingResponses = new WeakMap<ServerResponse, () => void>()

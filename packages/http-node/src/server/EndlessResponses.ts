/** The responses that go on until somebody ends them: a server that stops ends them first, and their receivers come back. */
import type { ServerResponse } from "node:http"

export const endlessResponses = new WeakSet<ServerResponse>()

/** To a client that is still there when the server that it waits for stops: 503 in words, in the form of what it asked. */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { cabinetUnavailable } from "../tenancy/UnknownHost.ts"
import type { Request, Response } from "./Request.ts"

const stopping = new StoreUnavailable({
  message: "The server is stopping: try again.",
  retryAfter: 1,
  outcomeUnknown: true,
})

export const stoppedResponse = (request: Request): Response => cabinetUnavailable(request, stopping)

/** For a client still connected when the server stops: a 503 in words, in the requested form. */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { cabinetUnavailable } from "./UnknownHost.ts"
import type { Request, Response } from "../server/Request.ts"

const stopping = new StoreUnavailable({
  message: "The server is stopping: try again.",
  retryAfter: 1,
  outcomeUnknown: true,
})

export const stoppedResponse = (request: Request): Response => cabinetUnavailable(request, stopping)

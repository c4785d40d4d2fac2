/**
 * Responses to requests that no cabinet can handle, in the format of the interface addressed: the API's, or the intake's.
 */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { errorResponse, noSuchEndpoint } from "../server/ApiError.ts"
import { isNavigation, refusedResponse, unavailableResponse } from "../intake/IntakeResponses.ts"
import type { Response, Request } from "../server/Request.ts"

/** An intake address, mounted under any path. */
const isIntakePath = (request: Pick<Request, "url">): boolean => request.url.includes("/webhook/")

const unknownAddress = new IntakeError({ code: "not_found", message: "This address does not accept data" })

/** 404 for a host that names no cabinet: to a sender the same as a wrong secret. */
export const unknownHost = (request: Request): Response =>
  isIntakePath(request) ? refusedResponse(request, unknownAddress, isNavigation(request)) : noSuchEndpoint

/** 503 with `Retry-After` for a cabinet whose database is unavailable. */
export const cabinetUnavailable = (request: Request, error: StoreUnavailable): Response =>
  isIntakePath(request)
    ? unavailableResponse(request, error, isNavigation(request))
    : errorResponse({ code: "reader_off", message: error.message, retryAfter: error.retryAfter })

const stopping = new StoreUnavailable({
  message: "The server is stopping: try again.",
  retryAfter: 1,
  outcomeUnknown: true,
})

/** For a client still connected when the server stops: a 503 in words, in the requested form. */
export const stoppedResponse = (request: Request): Response => cabinetUnavailable(request, stopping)

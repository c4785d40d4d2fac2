/** Which addresses are secrets themselves, so that nothing may write them down. */
import type { HttpServerRequest } from "effect/http"

/** An intake address, mounted under any path: it gets no span, for a span's attributes hold the address whole. */
export const isIntakePath = (request: HttpServerRequest.HttpServerRequest): boolean => request.url.includes("/webhook/")

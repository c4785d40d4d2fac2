/** Recognises paths that are themselves secrets and must never be logged. */
import type { Request } from "../server/Request.ts"

/** An intake address, mounted under any path. */
export const isIntakePath = (request: Pick<Request, "url">): boolean => request.url.includes("/webhook/")

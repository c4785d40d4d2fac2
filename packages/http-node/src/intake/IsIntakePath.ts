/** Which addresses are secrets themselves, so that nothing may write them down. */
import type { Request } from "../server/Request.ts"

/** An intake address, mounted under any path. */
export const isIntakePath = (request: Pick<Request, "url">): boolean => request.url.includes("/webhook/")

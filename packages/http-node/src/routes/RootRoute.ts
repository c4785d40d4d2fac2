/** The base address itself: it leads a browser to the console, and anything else to the API's description. */
import { errorResponse } from "../server/ApiError.ts"
import { methodNotAllowed } from "../api/EndpointErrors.ts"
import { faultError } from "../server/Fault.ts"
import { acceptsHtml } from "../html/Language.ts"
import { REFERENCE_PATH } from "../openapi/ReferenceRoute.ts"
import { type HttpSettings, CONSOLE_PATH } from "../server/HttpSettings.ts"
import type { Route } from "../server/Route.ts"

export const rootRoute = ({ baseUrl, docsUrl }: HttpSettings["Service"], hasConsole: boolean): Route => {
  const console = new URL(baseUrl).pathname.replace(/\/$/, "") + CONSOLE_PATH
  const description = docsUrl ?? `${baseUrl}${REFERENCE_PATH}`
  return {
    path: "/",
    fault: (fault) => errorResponse(faultError(fault)),
    handle: async ({ method, headers }) => {
      if (method !== "GET" && method !== "HEAD") return methodNotAllowed
      const location = hasConsole && acceptsHtml(headers["accept"]) ? console : description
      return {
        status: 302,
        headers: { location, vary: "Accept", "cache-control": "no-store", "content-length": "0" },
        body: null,
      }
    },
  }
}

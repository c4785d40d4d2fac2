/**
 * The bundled reference page: one HTML file generated once from the API's own description. It needs no script and fetches
 * nothing, so it works without a network, and its policy forbids the browser anything else.
 */
import { hash } from "node:crypto"
import { gzipSync } from "node:zlib"
import { madeOnce } from "@data-cabinet/core/runtime/MadeOnce"
import { errorResponse } from "../server/ApiError.ts"
import { methodNotAllowed } from "../api/EndpointErrors.ts"
import { faultError } from "../server/Fault.ts"
import type { Response } from "../server/Request.ts"
import type { Route } from "../server/Route.ts"
import type { OpenApiDocument } from "./OpenApiDocument.ts"
import { REFERENCE_STYLE, referencePage } from "./ReferencePage.ts"

export const REFERENCE_PATH = "/reference"

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${hash("sha256", REFERENCE_STYLE, "base64")}'`,
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ")

/** The page in all the forms in which it is sent. */
const responsesOf = (document: OpenApiDocument) => {
  const plain = Buffer.from(referencePage(document))
  const packed = gzipSync(plain, { level: 9 })
  const etag = `"${hash("sha256", plain, "hex").slice(0, 32)}"`
  const headers = {
    etag,
    "cache-control": "public, max-age=300",
    vary: "Accept-Encoding",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
  }
  const html = { ...headers, "content-type": "text/html; charset=utf-8" }
  const asIs: Response = { status: 200, headers: html, body: plain }
  const zipped: Response = { status: 200, headers: { ...html, "content-encoding": "gzip" }, body: packed }
  const unchanged: Response = { status: 304, headers, body: null }
  return { etag, asIs, zipped, unchanged }
}

export const referenceRoute = (document: () => OpenApiDocument, path: Route["path"] = REFERENCE_PATH): Route => {
  const responses = madeOnce(() => responsesOf(document()))
  return {
    path,
    fault: (fault) => errorResponse(faultError(fault)),
    handle: async (request) => {
      if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed
      const { etag, asIs, zipped, unchanged } = responses()
      const known = request.headers["if-none-match"]
      if (known !== undefined && known.split(",").some((tag) => tag.trim().replace(/^W\//, "") === etag))
        return unchanged
      return takesGzip(request.headers["accept-encoding"]) ? zipped : asIs
    },
  }
}

const takesGzip = (accepted: string | undefined): boolean =>
  (accepted ?? "").split(",").some((coding) => /^\s*(gzip|\*)\s*(;\s*q=(?!0(\.0*)?\s*$).*)?$/i.test(coding))

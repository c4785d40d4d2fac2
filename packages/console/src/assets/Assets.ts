/**
 * The console's own style, script and icon, under addresses that change with their content, so that a browser loads each
 * once. They are compressed on first use, once per process.
 */
import { hash } from "node:crypto"
import { brotliCompressSync, constants, gzipSync } from "node:zlib"
import type { Response, Request } from "@data-cabinet/http-node/server/Request"
import type { Route } from "@data-cabinet/http-node/server/Route"
import { errorResponse, noSuchEndpoint } from "@data-cabinet/http-node/server/ApiError"
import { faultError } from "@data-cabinet/http-node/server/Fault"
import { methodNotAllowed } from "@data-cabinet/http-node/api/EndpointErrors"
import { CONSOLE_SCRIPT } from "../generated/ConsoleScript.ts"
import { STYLE } from "./Style.ts"

const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16"><rect width="16" height="16" rx="4" fill="#1f7a4d"/><path d="M5 3.500h6v9H5zM5 6.500h6M5 9.500h6M7.300 5h1.400M7.300 8h1.400M7.300 11h1.400" fill="none" stroke="#fff" stroke-width="1.100" stroke-linecap="round" stroke-linejoin="round"/></svg>`

interface Asset {
  readonly type: string
  readonly text: string
}

export const ASSETS = {
  "console.css": { type: "text/css; charset=utf-8", text: STYLE },
  "console.js": { type: "text/javascript; charset=utf-8", text: CONSOLE_SCRIPT },
  "icon.svg": { type: "image/svg+xml", text: ICON },
} as const satisfies Record<string, Asset>

type AssetName = keyof typeof ASSETS

const VERSION = hash(
  "sha256",
  Object.values(ASSETS)
    .map(({ text }) => text)
    .join("\n"),
  "hex",
).slice(0, 16)

export const assetPath = (base: string, name: AssetName): string => `${base}/console/assets/${VERSION}/${name}`

const packed = new Map<string, Buffer>()

const once = (key: string, pack: () => Buffer): Buffer => {
  const known = packed.get(key)
  if (known !== undefined) return known
  const bytes = pack()
  packed.set(key, bytes)
  return bytes
}

const brotli = (text: string): Buffer =>
  brotliCompressSync(text, { params: { [constants.BROTLI_PARAM_QUALITY]: constants.BROTLI_MAX_QUALITY } })

/** Whether an `Accept-Encoding` header names the coding without refusing it. */
export const acceptsCoding = ({ headers }: Pick<Request, "headers">, coding: "br" | "gzip"): boolean =>
  (headers["accept-encoding"] ?? "").split(",").some((one) => {
    const [name = "", ...parameters] = one.split(";")
    return (
      name.trim().toLowerCase() === coding && !parameters.some((parameter) => /^\s*q=0(\.0*)?\s*$/i.test(parameter))
    )
  })

const isAsset = (name: string | undefined): name is AssetName => name !== undefined && Object.hasOwn(ASSETS, name)

export const assetRoute: Route = {
  path: "/console/assets/{version}/{file}",
  fault: (fault) => errorResponse(faultError(fault)),
  handle: async (request, { params: [version, name] }): Promise<Response> => {
    if (request.method !== "GET" && request.method !== "HEAD") return methodNotAllowed
    if (version !== VERSION || !isAsset(name)) return noSuchEndpoint
    const { type, text } = ASSETS[name]
    const headers = {
      "content-type": type,
      "cache-control": "public, max-age=31536000, immutable",
      vary: "Accept-Encoding",
      "x-content-type-options": "nosniff",
      "cross-origin-resource-policy": "same-origin",
    }
    if (acceptsCoding(request, "br")) {
      return {
        status: 200,
        headers: { ...headers, "content-encoding": "br" },
        body: once(`br ${name}`, () => brotli(text)),
      }
    }
    if (acceptsCoding(request, "gzip")) {
      const body = once(`gzip ${name}`, () => gzipSync(text, { level: 9 }))
      return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body }
    }
    return { status: 200, headers, body: text }
  },
}

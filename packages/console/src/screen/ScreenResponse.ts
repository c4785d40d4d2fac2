/** Screens, fragments, redirects and refusals as responses. */
import { gzipSync } from "node:zlib"
import type { ManageError } from "@data-cabinet/http-node/manage/ManageError"
import type { Response, Request } from "@data-cabinet/http-node/server/Request"
import { acceptsCoding } from "../assets/Assets.ts"
import { formsAt } from "../html/PostForm.ts"
import { type Frame, shell } from "../html/Shell.ts"
import type { ScreenCall, ScreenResult } from "./ConsoleScreen.ts"
import { errorScreen, refusalBox, statusOf } from "./ErrorScreen.ts"

export const redirect = (location: string, cookies: ReadonlyArray<string> = []): Response => ({
  status: 303,
  headers: { ...SCREEN_HEADERS, location },
  cookies,
  body: null,
})

/** `at`: the address of the screen, for the forms on it. */
export const responseOf = (
  { frame, request }: Pick<ScreenCall, "frame" | "request">,
  result: ScreenResult,
  at: string,
  cookies: ReadonlyArray<string> = [],
): Response => {
  if ("answer" in result) return result.answer
  if ("location" in result) return redirect(result.location, [...(result.cookies ?? []), ...cookies])
  const headers = { ...SCREEN_HEADERS, ...result.headers }
  if ("fragment" in result) return packed(request, { status: 200, headers, body: result.fragment })
  const screen = { ...result.screen, main: formsAt(result.screen.main, at) }
  return packed(request, { status: result.status ?? 200, headers, cookies, body: shell(frame, screen) })
}

const PACK_BYTES = 1_000

/** The response to a form may contain a secret next to sent data: so that its length reveals nothing, it is not compressed. */
const packed = (request: Request, plain: Response & { readonly body: string }): Response => {
  const headers = { ...plain.headers, vary: "Accept-Encoding, Accept-Language, Cookie" }
  if (request.method === "POST" || plain.body.length < PACK_BYTES || !acceptsCoding(request, "gzip")) {
    return { ...plain, headers }
  }
  const body = gzipSync(plain.body, { level: 4 })
  return { ...plain, headers: { ...headers, "content-encoding": "gzip" }, body }
}

const headersOf = ({ retryAfter }: ManageError) => ({
  ...SCREEN_HEADERS,
  ...(retryAfter === undefined ? {} : { "retry-after": String(retryAfter) }),
})

export const refusal = (frame: Frame, error: ManageError, back: string | null = null): Response => ({
  status: statusOf(error),
  headers: headersOf(error),
  body: shell(frame, errorScreen(frame, error, back)),
})

/** For a script that shows the refusal next to its form. */
export const fragmentRefusal = (frame: Frame, error: ManageError): Response => ({
  status: statusOf(error),
  headers: headersOf(error),
  body: refusalBox(frame, error).text,
})

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
  "require-trusted-types-for 'script'",
  "trusted-types cabinet",
].join("; ")

/** The headers of every screen: only the console's own script and style run, and no page may frame or cache it. */
const SCREEN_HEADERS: Readonly<Record<string, string>> = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": POLICY,
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-robots-tag": "noindex",
  "cache-control": "no-store",
  "cross-origin-opener-policy": "same-origin",
}

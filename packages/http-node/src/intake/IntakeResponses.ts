/**
 * The responses of intake: JSON for programs, a page or a redirect for a person whose browser sent a plain form. Any
 * site may read them, and none contains any part of the intake address.
 */
import type { LoggedFault } from "../server/Fault.ts"
import type { Receipt } from "@data-cabinet/core/event/EventLog"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import type { IntakeResult } from "@data-cabinet/core/intake/IntakeRequest"
import type { IntakeError, IntakeErrorCode } from "@data-cabinet/core/intake/IntakeError"
import type { HandshakeAnswer } from "@data-cabinet/core/verification/Handshake"
import { intakePage } from "../html/IntakePages.ts"
import type { IntakePage } from "../html/IntakePages.ts"
import { acceptsHtml, chooseLanguage } from "../html/Language.ts"
import { PAGE_HEADERS } from "../html/Page.ts"
import type { Response, Request as AnyRequest } from "../server/Request.ts"
import { jsonLine } from "../parser/BadRequest.ts"

type Request = Pick<AnyRequest, "headers">

export const STATUS = {
  not_found: 404,
  rate_limited: 429,
  bad_signature: 401,
  too_large: 413,
  too_many_items: 413,
  unsupported_encoding: 415,
  timeout: 408,
  bad_fields: 400,
} satisfies Record<IntakeErrorCode, number>

/** What a sender learns about an event: an item of a batch's `results`, and most of the response to a single event. */
const told = ({ id, repeatOf, empty }: Receipt) => ({ id, duplicate: repeatOf !== null, empty })

/** The response to an accepted submission; `person`: for a browser's page navigation. */
export const acceptedResponse = (request: Request, result: IntakeResult, person: boolean): Response => {
  switch (result.kind) {
    case "object":
      if (!person) return ok({ ok: true, ...told(result.receipt) })
      return result.thanksUrl === null || !URL.canParse(result.thanksUrl)
        ? pageResponse(request, 200, { name: "thanks" })
        : {
            status: 303,
            headers: { ...OPEN, "cache-control": "no-store", location: new URL(result.thanksUrl).href },
            body: null,
          }
    case "handshake":
      return handshakeResponse(result.answer)
    case "batch":
      return ok({ ok: true, count: result.receipts.length, results: result.receipts.map(told) })
    case "refused":
      return json(400, {
        ok: false,
        error: result.error,
        detail: result.detail,
        id: result.receipt.id,
        empty: result.receipt.empty,
      })
  }
}

/** The response to a provider's challenge, under its own content type. A text is returned unchanged. */
export const handshakeResponse = ({ contentType, text }: HandshakeAnswer): Response => ({
  status: 200,
  headers: { ...JSON_HEADERS, "content-type": contentType },
  body: contentType === "application/json" ? `${text}\n` : text,
})

/** The response to a refused submission. */
export const refusedResponse = (request: Request, error: IntakeError, person: boolean): Response => {
  const headers: Record<string, string> = {}
  if (error.retryAfter !== undefined) headers["retry-after"] = String(error.retryAfter)
  // Do not wait for the rest of an abandoned body.
  if (error.code === "timeout") headers["connection"] = "close"
  const status = STATUS[error.code]
  if (status === 401) headers["www-authenticate"] = "Signature"
  const page = person ? pageOf(error) : undefined
  if (page !== undefined) return pageResponse(request, status, page, headers)
  const { code, message, retryAfter, limit, count } = error
  // JSON omits undefined values.
  return json(status, { ok: false, error: code, detail: message, retry_after: retryAfter, limit, count }, headers)
}

const pageOf = (error: IntakeError): IntakePage | undefined => {
  switch (error.code) {
    case "not_found":
    case "timeout":
      return { name: error.code }
    case "rate_limited":
      return { name: "rate_limited", retryAfter: error.retryAfter ?? 60 }
    case "too_large":
      return { name: "too_large", limit: error.limit ?? 0 }
    case "bad_signature":
    case "too_many_items":
    case "unsupported_encoding":
    case "bad_fields":
      return undefined
  }
}

/**
 * The response while the store is unavailable. If the outcome is unknown the sender may send again: a repeat is recognised.
 */
export const unavailableResponse = (request: Request, error: StoreUnavailable, person: boolean): Response => {
  const headers = { "retry-after": String(error.retryAfter) }
  if (person) return pageResponse(request, 503, { name: "unavailable" }, headers)
  const detail = error.outcomeUnknown
    ? "It is unknown whether this was saved: send it again; if it was saved, it will be recognised as a repeat"
    : "Nothing can be saved right now; send it again"
  return json(503, { ok: false, error: "unavailable", detail, retry_after: error.retryAfter }, headers)
}

/**
 * The response to an internal fault. Advice is for the developer of the embedding program, whose every submission
 * fails; no visitor needs a page.
 */
export const faultResponse = (request: Request, { id, advice }: LoggedFault, person: boolean): Response => {
  if (person && advice === null) return pageResponse(request, 500, { name: "internal_error", number: id })
  const detail = `${advice ?? "Something went wrong"}; the error number is ${id}`
  return json(500, { ok: false, error: "internal_error", detail })
}

/** The response to any other method, before any lookup or count. */
export const methodResponse = (request: Request): Response =>
  acceptsHtml(request.headers["accept"])
    ? pageResponse(request, 405, { name: "method_not_allowed" }, ALLOW)
    : json(405, { ok: false, error: "method_not_allowed", detail: "Send data to this URL with POST" }, ALLOW)

/** The response to a CORS preflight: a script of any site may send, without credentials. */
export const preflightResponse = (request: Request, method: "GET" | "POST" = "POST"): Response => ({
  status: 204,
  headers: {
    ...OPEN,
    "access-control-allow-methods": method,
    "access-control-allow-headers": requestedHeaders(request.headers["access-control-request-headers"]),
    "access-control-max-age": "86400",
    vary: "Access-Control-Request-Headers",
  },
  body: null,
})

/** Whether a sender requests permission first, as CloudEvents webhooks do. */
export const asksPermission = (request: Request): boolean => requestOrigin(request) !== undefined

/** The permission for a CloudEvents sender. `rate`: the source's own, in requests a minute; null without one. */
export const permissionResponse = (request: Request, rate: number | null): Response => {
  const preflight = preflightResponse(request)
  return {
    ...preflight,
    headers: {
      ...preflight.headers,
      "cache-control": "no-store",
      "webhook-allowed-origin": requestOrigin(request) ?? "*",
      "webhook-allowed-rate": rate === null ? "*" : String(rate),
    },
  }
}

// Returned to the sender, so limited to the visible characters that an origin can have.
const requestOrigin = (request: Request): string | undefined => {
  const origin = request.headers["webhook-request-origin"]
  return origin !== undefined && /^[\x21-\x7e]{1,1000}$/.test(origin) ? origin : undefined
}

/** Whether a person sent it: an HTML form's content type, from a browser that expects a page. */
export const isNavigation = (request: Request): boolean => {
  const type = request.headers["content-type"]
  return type !== undefined && FORM_TYPE.test(type) && acceptsHtml(request.headers["accept"])
}

/** The three content types of HTML forms. */
const FORM_TYPE = /^\s*(?:application\/x-www-form-urlencoded|multipart\/form-data|text\/plain)\s*(?:;|$)/i

// Named one by one, since `*` does not cover Authorization; only a list of header names is returned.
const requestedHeaders = (asked: string | undefined): string =>
  asked !== undefined && /^[\w!#$%&'*+.^`|~, -]{1,1000}$/.test(asked) ? asked : "*"

export const OPEN = { "access-control-allow-origin": "*", "access-control-expose-headers": "Retry-After" }

/** The response to a HEAD of a source's address. */
export const LOOK_RESPONSE: Response = { status: 200, headers: { ...OPEN, "cache-control": "no-store" }, body: null }

const ALLOW = { allow: "POST" }

export const JSON_HEADERS = {
  ...OPEN,
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

/** Most responses: their headers are created once. */
const ok = (body: object): Response => ({ status: 200, headers: JSON_HEADERS, body: jsonLine(body) })

const json = (status: number, body: object, headers?: Readonly<Record<string, string>>): Response => ({
  status,
  headers: headers === undefined ? JSON_HEADERS : { ...JSON_HEADERS, ...headers },
  body: jsonLine(body),
})

const pageResponse = (
  request: Request,
  status: number,
  what: IntakePage,
  headers?: Readonly<Record<string, string>>,
): Response => ({
  status,
  headers: {
    ...OPEN,
    ...PAGE_HEADERS,
    "content-type": "text/html; charset=utf-8",
    vary: "Accept, Accept-Language",
    ...headers,
  },
  body: intakePage(what, chooseLanguage(request.headers["accept-language"]), formPage(request.headers["referer"])),
})

/** The page that contained the form. Never an intake address, which would reveal a secret. */
const formPage = (referer: string | undefined): URL | undefined => {
  if (referer === undefined || !URL.canParse(referer)) return undefined
  const url = new URL(referer)
  return /^https?:$/.test(url.protocol) && !url.pathname.includes("/webhook/") ? url : undefined
}

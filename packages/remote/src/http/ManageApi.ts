/** Requests to a cabinet's management API, and its errors as values. */
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { isKey } from "@data-cabinet/core/key/ApiKey"
import type { IdQuery } from "@data-cabinet/core/pagination/IdPages"
import { MAX_LIMIT } from "@data-cabinet/core/pagination/Page"
import { Context, Effect, Layer } from "effect"
import { camelKeys } from "@data-cabinet/core/json/KeyCase"
import { RemoteRefusal, RequestShown } from "./RemoteRefusal.ts"
import { IsLookup, RemoteSettings } from "./RemoteSettings.ts"
import { exchange, type HttpRequest, type HttpResponse } from "./Transport.ts"
import { shellWord } from "@data-cabinet/core/text/ShellWord"

type Pairs = ReadonlyArray<readonly [name: string, value: string]>

export interface ManageRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE"
  /** Default `manage/v1`. */
  readonly api?: "manage/v1" | "api/v1"
  /** Below `/manage/v1/`, or below the other API; each segment unencoded. */
  readonly path: ReadonlyArray<string | number>
  readonly query?: Pairs
  /** Sent as JSON; a field that is undefined is left out. */
  readonly body?: object
  /** Further headers. */
  readonly headers?: Readonly<Record<string, string>>
}

type Failed = RemoteRefusal | StoreUnavailable

export class ManageApi extends Context.Service<
  ManageApi,
  {
    /** Whether the given secret is a key of the read API, which opens nothing else. */
    readonly isByKey: boolean
    /** The response's body as text. */
    readonly text: (request: ManageRequest) => Effect.Effect<string, Failed>
    readonly bytes: (request: ManageRequest) => Effect.Effect<Buffer, Failed>
    /** The response's body with names as in the program. */
    readonly json: <A>(request: ManageRequest) => Effect.Effect<A, Failed>
    /** The items of a list; of one with pages the first. */
    readonly list: <A>(request: ManageRequest) => Effect.Effect<ReadonlyArray<A>, Failed>
    /** A request outside the management API, whose errors do not apply to it; `shown` is its printed form. */
    readonly exchange: (
      path: string,
      request: Pick<HttpRequest, "method" | "headers" | "body">,
      shown: Omit<ShownRequest, "url" | "method">,
    ) => Effect.Effect<HttpResponse, Failed>
  }
>()("@data-cabinet/remote/http/ManageApi") {}

/**
 * As many items of a list with pages by id as the query wants, which may be several pages. `place`: the parameter that continues
 * the list; `before` if it is newest first.
 */
export const idPages = Effect.fnUntraced(function* <A extends { readonly id: number }>(
  api: ManageApi["Service"],
  path: string,
  query: IdQuery,
  conditions: Pairs = [],
  place: "after" | "before" = "after",
) {
  const all: Array<A> = []
  for (let after = query.after; all.length < query.limit;) {
    const limit = Math.min(MAX_LIMIT, query.limit - all.length)
    const parameters: Pairs = [
      ["limit", String(limit)],
      ...(after === 0 ? [] : [[place, String(after)] as const]),
      ...conditions,
    ]
    const page = yield* api.list<A>({ method: "GET", path: [path], query: parameters })
    for (const one of page) all.push(one)
    if (page.length < limit) break
    after = page.at(-1)!.id
  }
  return all
})

const refusal = (code: string, message: string, param: string | null = null, retryAfter = 0) =>
  new RemoteRefusal({ code, message, param, retryAfter })

interface ErrorBody {
  readonly error: { readonly code: string; readonly message: string; readonly param?: string | null }
}

const errorOf = (text: string): ErrorBody["error"] | null => {
  try {
    const { error } = JSON.parse(text) as ErrorBody
    return typeof error.code === "string" && typeof error.message === "string" ? error : null
  } catch {
    return null
  }
}

const notACabinet = (url: URL, { status, headers }: HttpResponse): RemoteRefusal => {
  const { location } = headers
  const where = URL.parse(location ?? "", url.href)
  const words =
    status >= 300 && status < 400 && where !== null
      ? `it redirects to ${where.origin}, and requests with a token are not redirected: pass that address`
      : `it responded with ${status}`
  return refusal(
    "not_a_cabinet",
    `There is no cabinet at ${url.origin}${url.pathname.split(/\/(?:manage|api)\/v1\//)[0]}: ${words}.`,
  )
}

const BUSY = new Set(["unavailable", "rate_limited"])

/** The token itself is never repeated: the server's words do not have it. */
const inWords = (code: string, message: string): string =>
  code === "unauthorized" || code === "invalid_key"
    ? "The server refused the access token: it is wrong, expired or was revoked. Set CABINET_TOKEN to one that is valid."
    : message

const failureOf = (url: URL, response: HttpResponse): Failed => {
  const error = errorOf(response.body.toString())
  if (error === null) return notACabinet(url, response)
  const retryAfter = Number(response.headers["retry-after"] ?? 0) || 0
  const { code, message, param = null } = error
  // Both are worth another try later, and have been done in no part.
  if (BUSY.has(code)) return new StoreUnavailable({ message, retryAfter, outcomeUnknown: false })
  return refusal(code, inWords(code, message), param, retryAfter)
}

const noList = (base: string) =>
  refusal("not_a_cabinet", `There is no cabinet at ${base}: it responded with something other than a list.`)

const parsed = <A>(url: URL, text: string): Effect.Effect<A, RemoteRefusal> =>
  Effect.try({
    try: () => JSON.parse(text) as A,
    catch: () => refusal("not_a_cabinet", `The server at ${url.origin} responded with something that is not JSON.`),
  })

export const layer = Layer.effect(
  ManageApi,
  Effect.gen(function* () {
    const { url: base, token, show } = yield* RemoteSettings
    const authorization = { authorization: `Bearer ${token}` }

    const orShown = <A, E>(request: ShownRequest, send: Effect.Effect<A, E>): Effect.Effect<A, E> =>
      Effect.flatMap(IsLookup, (isLookup) =>
        show === null || isLookup ? send : Effect.andThen(show(curlLine(request)), Effect.die(new RequestShown())),
      )

    const send = Effect.fnUntraced(function* (request: ManageRequest) {
      const { method, api = "manage/v1", path, query = [], body } = request
      const url = new URL(`${base}/${api}/${path.map((segment) => encodeURIComponent(segment)).join("/")}`)
      for (const [name, value] of query) url.searchParams.append(name, value)
      const json = body === undefined ? null : JSON.stringify(body)
      const typed = json === null ? {} : { "content-type": "application/json" }
      const headers = { ...authorization, ...typed, ...request.headers }
      const shown = { method, url: url.href, ...(json === null ? {} : { json }) }
      const response = yield* orShown(shown, exchange({ method, url, headers, body: json }))
      const { status } = response
      if (status < 200 || status > 299) return yield* failureOf(url, response)
      return { url, body: response.body }
    })

    const json = <A>(request: ManageRequest) =>
      Effect.flatMap(send(request), ({ url, body }) =>
        Effect.map(parsed(url, body.toString()), (value) => camelKeys(value) as A),
      )

    return ManageApi.of({
      isByKey: isKey(token),
      text: (request) => Effect.map(send(request), ({ body }) => body.toString()),
      bytes: (request) => Effect.map(send(request), ({ body }) => body),
      json,
      list: <A>(request: ManageRequest) =>
        Effect.flatMap(json<{ readonly data?: ReadonlyArray<A> }>(request), ({ data }) =>
          Array.isArray(data) ? Effect.succeed(data as ReadonlyArray<A>) : Effect.fail(noList(base)),
        ),
      exchange: (path, request, shown) => {
        const url = new URL(`${base}${path}`)
        return orShown(
          { method: request.method, url: url.href, ...shown },
          exchange({ ...request, url, headers: { ...authorization, ...request.headers } }),
        )
      },
    })
  }),
)

/** JSON has no control characters, and a form's values are one line. */
const quoted = (text: string): string => shellWord(text) ?? "''"

interface ShownRequest {
  readonly method: string
  readonly url: string
  /** A JSON text. */
  readonly json?: string
  /** A file with the fields of its form. */
  readonly form?: { readonly file: string; readonly fields: ReadonlyArray<readonly [name: string, value: string]> }
}

/** A request as a shell command, with the token as `$CABINET_TOKEN`; it contains no other secret of ours. */
const curlLine = ({ method, url, json, form }: ShownRequest): string => {
  // curl sends a POST by default if the request has a body.
  const implied = json !== undefined || form !== undefined ? "POST" : "GET"
  return [
    "curl",
    ...(method === implied ? [] : ["-X", method]),
    '-H "Authorization: Bearer $CABINET_TOKEN"',
    ...(json === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(json)}`]),
    ...(form?.fields ?? []).map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`),
    ...(form === undefined ? [] : [`-F ${quoted(`file=@${form.file}`)}`]),
    quoted(url),
  ].join(" ")
}

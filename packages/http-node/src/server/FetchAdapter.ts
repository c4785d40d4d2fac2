/** `Request => Promise<Response>`, for frameworks that speak fetch. The only code that knows these two types. */
import { Readable } from "node:stream"
import { ReadableStream } from "node:stream/web"
import type { Context } from "effect"
import { errorResponse } from "./ApiError.ts"
import { faultError, logFault } from "./Fault.ts"
import { type Response, type Handler, isStream, type Request, RequestGone } from "./Request.ts"
import { REQUEST_ID_HEADER, requestId, withRequestId } from "./RequestId.ts"

type FetchedRequest = globalThis.Request
type FetchedResponse = globalThis.Response

export const fetchAdapter =
  ({ handle, stopped }: Handler, context: Context.Context<never>) =>
  async (fetched: FetchedRequest): Promise<FetchedResponse> => {
    const request = new FetchRequest(fetched, context)
    try {
      return responseOf(request, await handle(request))
    } catch (reason) {
      if (reason instanceof RequestGone) {
        // No client reads this response; 499 is the status that proxies log for a disconnected client.
        if (fetched.signal.aborted) return new globalThis.Response(null, { status: 499 })
        return responseOf(request, stopped(request))
      }
      return responseOf(request, errorResponse(faultError(logFault({ path: "/" }, reason, request.context))))
    } finally {
      request.end()
    }
  }

class FetchRequest implements Request {
  readonly id: string
  readonly method: string
  readonly url: string
  readonly host: string
  readonly headers: Readonly<Record<string, string>>
  readonly peer = undefined
  context: Context.Context<never>
  readonly #fetched: FetchedRequest
  #body: Readable | undefined

  constructor(fetched: FetchedRequest, context: Context.Context<never>) {
    const { pathname, search, host } = new URL(fetched.url)
    this.headers = Object.fromEntries(fetched.headers)
    this.id = requestId(this.headers[REQUEST_ID_HEADER])
    this.method = fetched.method
    this.url = pathname + search
    // A request built by a program carries its host only in its URL.
    this.host = this.headers["host"] ?? host
    this.context = withRequestId(context, this.id)
    this.#fetched = fetched
  }

  get original(): unknown {
    return this.#fetched
  }

  get body(): Readable | undefined {
    if (this.#body === undefined && !this.#fetched.bodyUsed) {
      const { body } = this.#fetched
      // The same stream; browsers and Node declare its type differently.
      // oxlint-disable-next-line typescript/no-unnecessary-type-assertion
      this.#body = body === null ? Readable.from([]) : Readable.fromWeb(body as unknown as ReadableStream)
      // A reader of the body sees the error itself; an error after the last reader has left is ignored.
      this.#body.on("error", () => {})
    }
    return this.#body
  }

  onGone(leave: () => void): () => void {
    const { signal } = this.#fetched
    if (signal.aborted) leave()
    signal.addEventListener("abort", leave, { once: true })
    return () => signal.removeEventListener("abort", leave)
  }

  /** The server is the surrounding program's. */
  onStop(): () => void {
    return () => {}
  }

  /** The rest of the body is not read. */
  end(): void {
    this.#body?.destroy()
  }
}

/** Statuses whose responses have no body. */
const BODILESS = new Set([204, 205, 304])

const responseOf = ({ id, method }: Request, response: Response): FetchedResponse => {
  const { status, body } = response
  const headers = new Headers({ ...response.headers, [REQUEST_ID_HEADER]: id })
  for (const cookie of response.cookies ?? []) headers.append("set-cookie", cookie)
  const isSent = body !== null && method !== "HEAD" && !BODILESS.has(status)
  if (isStream(body)) {
    // The same stream; browsers and Node declare its type differently.
    return new globalThis.Response(isSent ? (ReadableStream.from(body) as never) : null, { status, headers })
  }
  if (body !== null) headers.set("content-length", String(Buffer.byteLength(body)))
  return new globalThis.Response(isSent ? (body as string | Uint8Array<ArrayBuffer>) : null, { status, headers })
}

/** `Request => Promise<Response>`, for frameworks that speak fetch: the only code that knows these two. */
import { Readable } from "node:stream"
import type { ReadableStream } from "node:stream/web"
import type { Context } from "effect"
import { errorAnswer } from "../api/ApiError.ts"
import { faultError, logFault } from "../api/Fault.ts"
import { type Answer, type Handle, type Request, RequestGone } from "./Request.ts"
import { REQUEST_ID_HEADER, requestId, withRequestId } from "./RequestId.ts"

type Asked = globalThis.Request

export const fetchAdapter =
  (handle: Handle, context: Context.Context<never>) =>
  async (asked: Asked): Promise<Response> => {
    const request = new FetchRequest(asked, context)
    try {
      return responseOf(request, await handle(request))
    } catch (reason) {
      // Nobody reads it; 499 is what proxies log of a client that has gone.
      if (reason instanceof RequestGone) return new Response(null, { status: asked.signal.aborted ? 499 : 503 })
      return responseOf(request, errorAnswer(faultError(logFault({ path: "/" }, reason, request.context))))
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
  readonly #asked: Asked
  #body: Readable | undefined

  constructor(asked: Asked, context: Context.Context<never>) {
    const { pathname, search, host } = new URL(asked.url)
    this.headers = Object.fromEntries(asked.headers)
    this.id = requestId(this.headers[REQUEST_ID_HEADER])
    this.method = asked.method
    this.url = pathname + search
    // One that a program made itself has its host in its address alone.
    this.host = this.headers["host"] ?? host
    this.context = withRequestId(context, this.id)
    this.#asked = asked
  }

  get body(): Readable | undefined {
    if (this.#body === undefined && !this.#asked.bodyUsed) {
      const { body } = this.#asked
      // The same stream, which browsers describe otherwise than Node.
      this.#body = body === null ? Readable.from([]) : Readable.fromWeb(body as unknown as ReadableStream)
      // Whoever reads it hears of an error; where nobody does any more, it is nobody's.
      this.#body.on("error", () => {})
    }
    return this.#body
  }

  onGone(leave: () => void): () => void {
    const { signal } = this.#asked
    if (signal.aborted) leave()
    signal.addEventListener("abort", leave, { once: true })
    return () => signal.removeEventListener("abort", leave)
  }

  /** Whatever is left of its body is not read. */
  end(): void {
    this.#body?.destroy()
  }
}

/** Statuses whose answers have no body. */
const BODILESS = new Set([204, 205, 304])

const responseOf = ({ id, method }: Request, { status, headers: own, body }: Answer): Response => {
  const headers: Record<string, string> = { ...own, [REQUEST_ID_HEADER]: id }
  if (body !== null) headers["content-length"] = String(Buffer.byteLength(body))
  const isSent = body !== null && method !== "HEAD" && !BODILESS.has(status)
  return new Response(isSent ? (body as string | Uint8Array<ArrayBuffer>) : null, { status, headers })
}

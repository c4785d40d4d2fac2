/** Requests with `fetch`, their errors, and the pauses between retries. */
import { CabinetError, errorOf } from "./CabinetError.ts"

/** The part of `fetch` that the client needs. */
export type Fetch = (url: string, init: RequestInit) => Promise<Response>

/** The text of a success; any other response is thrown as a `CabinetError`. */
export const textOf = async (fetcher: Fetch, url: string, init: RequestInit): Promise<string> => {
  let response: Response
  let text: string
  try {
    // The key is sent only to the given server, never to one that it redirects to.
    response = await fetcher(url, { redirect: "error", ...init })
    text = await response.text()
  } catch (cause) {
    if (init.signal?.aborted === true) throw init.signal.reason
    const where = new URL(url).origin
    throw new CabinetError({ code: "unreachable", message: `${where} cannot be reached.`, status: null, cause })
  }
  if (!response.ok) throw errorOf(response, text)
  return text
}

/** Resolves after that time, or rejects with the signal's reason. */
export const pause = (millis: number, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer)
      reject(signal?.reason)
    }
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", stop)
      resolve()
    }, millis)
    if (signal?.aborted === true) return stop()
    signal?.addEventListener("abort", stop, { once: true })
  })

const FIRST_PAUSE_MILLIS = 250
const MAX_PAUSE_MILLIS = 30_000

/**
 * How long to wait after this many failures in a row; the server's `Retry-After` takes precedence, and jitter spreads
 * clients out.
 */
export const backoffMillis = (failures: number, error: CabinetError): number => {
  const base = Math.min(MAX_PAUSE_MILLIS, FIRST_PAUSE_MILLIS * 2 ** Math.min(failures, 10))
  return Math.max((error.retryAfter ?? 0) * 1000, base * (0.5 + Math.random() / 2))
}

/** A base address without the slashes at its end. */
export const withoutSlash = (baseUrl: string): string => {
  let end = baseUrl.length
  while (baseUrl[end - 1] === "/") end -= 1
  return baseUrl.slice(0, end)
}

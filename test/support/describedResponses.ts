/**
 * Compares every response of the API and of intake that any test sees with the API's own description, from whichever server
 * and to whichever client: `fetch` and node:http are intercepted for all test files. A response that differs fails the test
 * that saw it (`eachResponseDescribed.ts`). Responses that a test does not read, or cuts off, are not seen. Test files that
 * share a process share this module, which intercepts once.
 */
import http, { type ClientRequest, type IncomingMessage } from "node:http"
import { syncBuiltinESMExports } from "node:module"
import { setImmediate as turn } from "node:timers/promises"

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/

/** What comes after the place that the cabinet is mounted at; undefined for an address that is none of its. */
const addressOf = (host: string, path: string): string | undefined => {
  const at = path.search(/\/(api\/v1|webhook)(\/|$)/)
  return at < 0 || !LOOPBACK.test(host) ? undefined : path.slice(at)
}

const failures: Array<unknown> = []
const checking = new Set<Promise<void>>()

const check = async (...answer: [method: string, address: string, status: number, headers: Headers, text: string]) => {
  const [method, address, status, headers, text] = answer
  // Loaded with the first answer: most files see none.
  const { assertDescribed } = await import("../../packages/http-node/test/support/DescribedResponse.ts")
  try {
    assertDescribed(method, address, { status, headers, text })
  } catch (wrong) {
    failures.push(wrong)
  }
}

/** Checks once the text is whole; one that was cut off is no answer. */
const checkLater = (text: Promise<string>, method: string, address: string, status: number, headers: Headers) =>
  void text.then(
    (whole) => {
      const checked = check(method, address, status, headers, whole)
      checking.add(checked)
      return checked.finally(() => checking.delete(checked))
    },
    () => {},
  )

const plainFetch = globalThis.fetch
globalThis.fetch = async (input, init) => {
  const response = await plainFetch(input, init)
  const request = input instanceof Request ? input : undefined
  const url = new URL(request?.url ?? String(input))
  const address = addressOf(url.hostname, url.pathname)
  if (address !== undefined) {
    const method = init?.method ?? request?.method ?? "GET"
    // A stream has no end, and a copy of it would be one more that has to be read: its head is what is described.
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    const text = isStream ? Promise.resolve("") : response.clone().text()
    checkLater(text, method, address, response.status, response.headers)
  }
  return response
}

/** Reads along without touching how the test reads: what the parser hands to the stream is seen on its way in. */
const listenIn = (sent: ClientRequest): ClientRequest =>
  sent.prependOnceListener("response", (response: IncomingMessage) => {
    // Nobody else listens, so nobody else reads.
    if (sent.listenerCount("response") === 0) response.resume()
    const address = addressOf(sent.host, new URL(sent.path, "http://localhost").pathname)
    if (address === undefined) return
    const chunks: Array<Buffer> = []
    const push = response.push.bind(response)
    const text = new Promise<string>((resolve, reject) => {
      response.push = (chunk: Buffer | null, ...more) => {
        if (chunk === null && response.complete) resolve(Buffer.concat(chunks).toString())
        else if (chunk !== null) chunks.push(chunk)
        return push(chunk, ...more)
      }
      response.once("close", reject)
    })
    const headers = new Headers(Object.entries(response.headers).map(([name, value]) => [name, String(value)]))
    checkLater(text, sent.method, address, response.statusCode!, headers)
  })

const plainRequest = http.request
http.request = ((...words: Parameters<typeof plainRequest>) => listenIn(plainRequest(...words))) as typeof plainRequest
http.get = ((...words: Parameters<typeof plainRequest>) => http.request(...words).end()) as typeof http.get
syncBuiltinESMExports()

/** What did not fit so far; told once. */
export const takeFailures = async (): Promise<ReadonlyArray<unknown>> => {
  // The copy of a body is whole one turn after the body that the test has read.
  await turn()
  await Promise.all(checking)
  return failures.splice(0)
}

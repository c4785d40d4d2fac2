/**
 * Compares every response of the API and of intake that a test receives with the API's own description. It intercepts
 * `fetch` and node:http in all test files, for any server and client. A response that differs fails the test that received
 * it (`eachResponseDescribed.ts`). Responses that a test does not read whole are not compared. Test files that share a
 * process share this module, which intercepts once.
 */
import http, { type ClientRequest, type IncomingMessage } from "node:http"
import { syncBuiltinESMExports } from "node:module"
import { setImmediate as turn } from "node:timers/promises"

const LOOPBACK = /^(127\.0\.0\.1|localhost|\[::1\])$/

/** The path below the cabinet's mount point; undefined for a path that is not the cabinet's. */
const addressOf = (host: string, path: string): string | undefined => {
  const at = path.search(/\/(api\/v1|webhook)(\/|$)/)
  return at < 0 || !LOOPBACK.test(host) ? undefined : path.slice(at)
}

/** The origins of servers of other versions, whose responses are as those describe them; they are asked by `fetch` alone. */
export const otherVersions = new Set<string>()

const failures: Array<unknown> = []
const checking = new Set<Promise<void>>()

const check = async (...answer: [method: string, address: string, status: number, headers: Headers, text: string]) => {
  const [method, address, status, headers, text] = answer
  // Loaded with the first response, because most files receive none.
  const { assertDescribed } = await import("../../packages/http-node/test/support/DescribedResponse.ts")
  try {
    assertDescribed(method, address, { status, headers, text })
  } catch (wrong) {
    failures.push(wrong)
  }
}

/** Checks a complete text; a truncated one is not checked. */
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
  if (address !== undefined && !otherVersions.has(url.origin)) {
    const method = init?.method ?? request?.method ?? "GET"
    // A stream does not end, and a copy of it would also have to be read, so only its head is checked.
    const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true
    const text = isStream ? Promise.resolve("") : response.clone().text()
    checkLater(text, method, address, response.status, response.headers)
  }
  return response
}

/** Sees what the parser passes to the stream, without affecting how the test reads. */
const listenIn = (sent: ClientRequest): ClientRequest =>
  sent.prependOnceListener("response", (response: IncomingMessage) => {
    // Without another listener nobody else would read.
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

/** Returns the differences found so far, each once. */
export const takeFailures = async (): Promise<ReadonlyArray<unknown>> => {
  // The copy of a body is complete one turn after the test has read the body.
  await turn()
  await Promise.all(checking)
  return failures.splice(0)
}

/**
 * Fetches polled URLs with the only client for outgoing requests. It follows a few redirects, each as a separate
 * request. The whole body is in memory while it is read, so one limit applies to it both as received and as decoded.
 */
import { USER_AGENT } from "@data-cabinet/core/delivery/Courier"
import { MAX_POLL_BYTES, type PollResponse, PollFetch, type PollRequest } from "@data-cabinet/core/poll/PollFetch"
import { CODING_NAMES, contentCodings } from "@data-cabinet/core/network/ContentCoding"
import { retryAfterOf } from "@data-cabinet/core/poll/PollSchedule"
import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"
import { Effect, Layer, Result, Stream } from "effect"
import type { ResponseHead } from "../outgoing/Exchange.ts"
import { OutgoingError } from "../outgoing/OutgoingError.ts"
import { PinnedClient } from "../outgoing/PinnedClient.ts"
import { statusFailure } from "../outgoing/StatusFailure.ts"
import { headersFor, MAX_REDIRECTS, redirectTarget, shownTarget } from "./Redirect.ts"

export interface HttpPollFetchOptions {
  /** Until the response begins, and between two pieces of it. Default 30,000. */
  readonly idleMillis?: number
  /** Covers everything. Default 300,000. */
  readonly deadlineMillis?: number
  /** Default 32 MB. */
  readonly maxBytes?: number
}

const one = (head: ResponseHead, name: string): string | null => {
  const value = head.headers[name]
  return typeof value === "string" ? value : (value?.[0] ?? null)
}

/** A validator is sent back unchanged, so one that cannot be sent is not kept. */
const validator = (head: ResponseHead, name: string): string | null => {
  const value = one(head, name)
  return value !== null && value.length <= 1000 && /^[\t\x20-\x7e\x80-\xff]+$/.test(value) ? value : null
}

const failureOf = (head: ResponseHead): string | null =>
  head.status === 200 ? null : statusFailure(head.status, one(head, "location"))

/** Responses that never have content, so that nothing is new. */
const NO_CONTENT: ReadonlySet<number> = new Set([204, 205])

/** Only what can be decoded here: Node before 22.15 has no zstd. */
const ACCEPTED_CODINGS = ["gzip", "deflate", "br", "zstd"].filter((name) => contentCodings(name) !== null).join(", ")

/** The body without its content codings, or the failure. A body of no bytes was not encoded. */
const decoded = async (
  received: Uint8Array,
  header: string,
  limit: number,
): Promise<Result.Result<Uint8Array, string>> => {
  const codings = contentCodings(header)
  if (codings === null) {
    return Result.fail(`the response has the content coding ${header.slice(0, 50)}; only ${CODING_NAMES} can be read`)
  }
  let body = received
  for (const decode of received.byteLength === 0 ? [] : codings) {
    const result = await decode(body, limit)
    if (Result.isSuccess(result)) body = result.success
    else if (result.failure.code === "too_large") {
      return Result.fail(`the decompressed response is longer than ${limit} bytes`)
    } else return Result.fail(`the response cannot be decompressed: ${result.failure.reason}`)
  }
  return Result.succeed(body)
}

/** The poll's own headers take precedence over ours. */
const headersOf = ({ headers, etag, lastModified }: PollRequest): Record<string, string> => {
  const sent: Record<string, string> = {
    Accept: "application/json, application/x-ndjson, text/csv;q=0.9, */*;q=0.5",
    "Accept-Encoding": ACCEPTED_CODINGS,
    "User-Agent": USER_AGENT,
    ...(etag === null ? {} : { "If-None-Match": etag }),
    ...(lastModified === null ? {} : { "If-Modified-Since": lastModified }),
  }
  for (const [name, value] of headers) {
    for (const known of Object.keys(sent)) if (known.toLowerCase() === name.toLowerCase()) delete sent[known]
    sent[name] = value
  }
  return sent
}

interface HopLimits {
  readonly idle: number
  readonly maxBytes: number
}

/** One request: the response, or where it redirects. */
const hopBy = (client: PinnedClient["Service"], { idle, maxBytes }: HopLimits) =>
  Effect.fnUntraced(function* (request: PollRequest, onHead: OnHead) {
    const conditional = request.etag !== null || request.lastModified !== null
    const response = yield* client.open({
      method: "GET",
      url: new URL(request.url),
      headers: headersOf(request),
      deadlineMillis: idle,
      maxBytes,
    })
    onHead(response)
    const target = redirectTarget(response.status, one(response, "location"), new URL(request.url))
    if (target instanceof URL) return target
    const common = {
      status: response.status,
      peer: response.peer,
      contentType: one(response, "content-type"),
      etag: validator(response, "etag"),
      lastModified: validator(response, "last-modified"),
      retryAfter: retryAfterOf(one(response, "retry-after") ?? undefined),
    }
    if (NO_CONTENT.has(response.status) || (response.status === 304 && conditional))
      return { ...common, failure: null, body: null }
    const failure = target ?? failureOf(response)
    if (failure !== null) return { ...common, failure, body: null }
    const coding = [response.headers["content-encoding"] ?? []].flat().join(", ").trim().toLowerCase()
    const whole = new ChunkBuffer()
    yield* Stream.runForEach(response.body, (piece) => Effect.sync(() => whole.add(piece)))
    const body = yield* Effect.promise(() => decoded(whole.bytes(), coding, maxBytes))
    return Result.isSuccess(body)
      ? { ...common, failure: null, body: body.success }
      : { ...common, failure: body.failure, body: null }
  })

/** Follows redirects. Each target is checked as the first URL is, and gets no credentials that belong to another origin. */
const followed = (hop: ReturnType<typeof hopBy>) =>
  Effect.fnUntraced(function* (first: PollRequest, onHead: OnHead) {
    let request = first
    for (let redirects = 0; ; redirects++) {
      const response = yield* Effect.scoped(hop(request, onHead)).pipe(
        Effect.mapError((error) => (redirects === 0 ? error : behindRedirect(error, request.url))),
      )
      if (!(response instanceof URL)) return response
      if (redirects === MAX_REDIRECTS) {
        return yield* new OutgoingError({ code: "bad_response", message: tooMany(response), peer: null })
      }
      const headers = headersFor(request.headers, new URL(request.url), response)
      request = { ...request, url: response.href, headers }
    }
  })

const behindRedirect = ({ code, message, peer }: OutgoingError, url: string) =>
  new OutgoingError({ code, message: `behind a redirect to ${shownTarget(url)}: ${message}`, peer })

const tooMany = (target: URL): string =>
  `redirected more than ${MAX_REDIRECTS} times, at last to ${shownTarget(target.href)}`

export const layer = (options: HttpPollFetchOptions = {}) =>
  Layer.effect(
    PollFetch,
    Effect.gen(function* () {
      const client = yield* PinnedClient
      const idle = options.idleMillis ?? 30_000
      const deadline = options.deadlineMillis ?? 300_000
      const maxBytes = options.maxBytes ?? MAX_POLL_BYTES

      const fetchFollowing = followed(hopBy(client, { idle, maxBytes }))

      return PollFetch.of({
        fetch: Effect.fnUntraced(function* (request) {
          let last: ResponseHead | undefined
          const fetched = fetchFollowing(request, (head) => {
            last = head
          })
          const nothing = (failure: string, peer: string | null): PollResponse => ({
            status: last?.status ?? null,
            peer: last?.peer ?? peer,
            failure,
            body: null,
            contentType: null,
            etag: null,
            lastModified: null,
            retryAfter: null,
          })
          return yield* fetched.pipe(
            Effect.timeoutOrElse({
              duration: deadline,
              orElse: () =>
                Effect.sync(() => nothing(`the response was not complete within ${deadline / 1000} s`, null)),
            }),
            Effect.catch((error) => Effect.sync(() => nothing(error.message, error.peer))),
          )
        }),
      })
    }),
  )

/** Called with the head of a response as soon as it arrives, so that a later failure is logged with it. */
type OnHead = (head: ResponseHead) => void

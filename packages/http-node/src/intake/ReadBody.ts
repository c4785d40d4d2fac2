/**
 * Reads a body no further than its limit and no longer than its time. What it refuses: too many bytes (told by
 * Content-Length before the first, counted otherwise), a sender that is too slow or that broke off, and more unfinished
 * bodies at once than memory allows.
 */
import { IncomingMessage } from "node:http"
import { running } from "@data-cabinet/core/runtime/Course"
import type { TimerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { brokenOff, consumed, bodyBufferFull, tooLarge, tooSlow, type Unread } from "./BodyError.ts"
import type { Received } from "../server/Route.ts"
import type { BodyBudget, Limits } from "./BodyLimits.ts"
import { ChunkBuffer } from "@data-cabinet/core/runtime/ChunkBuffer"
import { type Body, IncomingBody } from "./IncomingBody.ts"

/** The body of a request: a few of its bytes may be taken in before they are asked for, see `IncomingBody`. */
export const bodyOf = ({ headers, body }: Received, limits: Limits, budget: BodyBudget, ends: TimerWheel): Body => {
  const declared = headers["content-length"]
  if (declared !== undefined && Number(declared) > limits.maxBytes) {
    return { whole: running(Effect.fail(tooLarge(limits.maxBytes))), drop: () => {} }
  }
  if (body instanceof IncomingMessage) return new IncomingBody(body, limits, budget, ends)
  const { source } = body
  // A sender that waits for `100 Continue` gets it once the request's own stream is read (see refused/Expectation).
  return source instanceof IncomingMessage && headers["expect"] === undefined
    ? new IncomingBody(source, limits, budget, ends)
    : { whole: running(streamed(body, limits, budget)), drop: () => {} }
}

const streamed = (request: HttpServerRequest.HttpServerRequest, limits: Limits, budget: BodyBudget) =>
  Effect.suspend((): Effect.Effect<Uint8Array, Unread> => {
    const gathered = new ChunkBuffer()
    const { source } = request
    if (source instanceof Request && source.body === null) return Effect.succeed(gathered.bytes())
    if (source instanceof Request && source.bodyUsed) return consumed
    const take = (chunk: Uint8Array): Effect.Effect<void, Unread> => {
      if (gathered.length + chunk.byteLength > limits.maxBytes) return Effect.fail(tooLarge(limits.maxBytes))
      if (budget.held + chunk.byteLength > limits.buffered) return Effect.fail(bodyBufferFull())
      budget.held += chunk.byteLength
      gathered.add(chunk)
      return Effect.void
    }
    return request.stream.pipe(
      Stream.timeoutOrElse({ duration: limits.idle, orElse: () => Stream.fail(tooSlow()) }),
      Stream.mapError((error) => (error._tag === "HttpServerError" ? brokenOff() : error)),
      Stream.runForEach(take),
      Effect.timeoutOrElse({ duration: limits.total, orElse: () => Effect.fail(tooSlow()) }),
      Effect.map(() => gathered.bytes()),
      Effect.ensuring(Effect.sync(() => (budget.held -= gathered.length))),
    )
  })

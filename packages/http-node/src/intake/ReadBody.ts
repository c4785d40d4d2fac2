/**
 * Reads a body no further than its limit and no longer than its time. What it refuses: too many bytes (told by
 * Content-Length before the first, counted otherwise), a sender that is too slow or that broke off, and more unfinished
 * bodies at once than memory allows.
 */
import { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Effect, Stream } from "effect"
import type { HttpServerRequest } from "effect/http"
import { IncomingMessage } from "node:http"
import type { BodyBudget, Limits } from "./BodyLimits.ts"
import { Gathered } from "./Gathered.ts"

type Unread = IntakeError | StoreUnavailable

/** The body's bytes as received. After a failure the connection is closed with the answer, and the rest is not read. */
export const readBody = (
  request: HttpServerRequest.HttpServerRequest,
  limits: Limits,
  budget: BodyBudget,
): Effect.Effect<Uint8Array, Unread> => {
  const declared = request.headers["content-length"]
  if (declared !== undefined && Number(declared) > limits.maxBytes) return Effect.fail(tooLarge(limits.maxBytes))
  const { source } = request
  // A sender that waits for `100 Continue` gets it from the request's own stream.
  return source instanceof IncomingMessage && request.headers["expect"] === undefined
    ? readIncoming(source, limits, budget)
    : readStream(request, limits, budget)
}

/** Too many bytes, before or after the content encoding was undone. */
export const tooLarge = (limit: number): IntakeError =>
  new IntakeError({ code: "too_large", message: `A body may have at most ${limit} bytes; nothing was saved`, limit })

const readIncoming = (source: IncomingMessage, limits: Limits, budget: BodyBudget) =>
  Effect.callback<Uint8Array, Unread>((resume) => {
    if (source.readableEnded || source.destroyed) {
      return resume(source.readableEnded ? Effect.die(new Error(CONSUMED)) : Effect.fail(brokenOff()))
    }
    const gathered = new Gathered()
    // A body that is here already, as most are, needs no alarm.
    const idle = source.complete ? undefined : setTimeout(() => end(Effect.fail(tooSlow())), limits.idle)
    const total = source.complete ? undefined : setTimeout(() => end(Effect.fail(tooSlow())), limits.total)
    const onData = (chunk: Uint8Array) => {
      if (gathered.length + chunk.byteLength > limits.maxBytes) return end(Effect.fail(tooLarge(limits.maxBytes)))
      if (budget.held + chunk.byteLength > limits.buffered) return end(Effect.fail(crowded()))
      budget.held += chunk.byteLength
      gathered.add(chunk)
      idle?.refresh()
    }
    const onEnd = () => end(Effect.succeed(gathered.bytes()))
    const onClose = () => end(Effect.fail(brokenOff()))
    const release = () => {
      clearTimeout(idle)
      clearTimeout(total)
      budget.held -= gathered.length
      source.off("data", onData).off("end", onEnd).off("error", onClose).off("close", onClose)
    }
    const end = (outcome: Effect.Effect<Uint8Array, Unread>) => {
      release()
      source.pause()
      source.on("error", ignore)
      resume(outcome)
    }
    source.on("end", onEnd).on("error", onClose).on("close", onClose).on("data", onData)
    return Effect.sync(release)
  })

const readStream = (request: HttpServerRequest.HttpServerRequest, limits: Limits, budget: BodyBudget) =>
  Effect.suspend((): Effect.Effect<Uint8Array, Unread> => {
    const gathered = new Gathered()
    if (request.source instanceof Request && request.source.body === null) return Effect.succeed(gathered.bytes())
    const take = (chunk: Uint8Array): Effect.Effect<void, Unread> => {
      if (gathered.length + chunk.byteLength > limits.maxBytes) return Effect.fail(tooLarge(limits.maxBytes))
      if (budget.held + chunk.byteLength > limits.buffered) return Effect.fail(crowded())
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

const ignore = () => {}

const tooSlow = () =>
  new IntakeError({ code: "timeout", message: "The body did not arrive in time; nothing was saved" })

const brokenOff = () => new IntakeError({ code: "timeout", message: "The body broke off; nothing was saved" })

const crowded = () =>
  new StoreUnavailable({ message: "Too many bodies are arriving at once", retryAfter: 5, outcomeUnknown: false })

const CONSUMED =
  "The request's body was read before intake got it: mount the cabinet's handler in front of any body parser"

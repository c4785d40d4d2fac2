/**
 * `/mcp`: the Model Context Protocol over streamable HTTP, without sessions. The order of checks:
 * a foreign `Origin` (403), method (405), key (401), rate (429), content type (415), size (413), and then the message
 * with its protocol version (400). Refusals of a message have the protocol's form.
 */
import type { AgentReader, ToolError } from "@data-cabinet/core/agent/AgentTools"
import { MAX_WAIT_SECONDS } from "@data-cabinet/core/agent/AgentTool"
import type { AgentHeaders } from "@data-cabinet/core/agent/AgentEnvelope"
import {
  type AgentMessage,
  agentServer,
  mayWait,
  readAgentMessage,
  refusedRequest,
} from "@data-cabinet/core/agent/AgentServer"
import { type ProtocolError, rpcError } from "@data-cabinet/core/agent/ProtocolError"
import { AgentSubscriptions } from "@data-cabinet/core/agent/AgentSubscriptions"
import { CHALLENGE_MILLIS } from "@data-cabinet/core/agent/CallbackChallenge"
import { toolRefusal } from "@data-cabinet/core/agent/ToolRefusal"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { FollowFeed } from "@data-cabinet/core/feed/FollowFeed"
import { type Admitted, Authenticate, type AuthenticateError, keyName } from "@data-cabinet/core/key/Authenticate"
import { mayDo } from "@data-cabinet/core/key/Role"
import { overLimit } from "@data-cabinet/core/limit/RateLimiter"
import { Catalog } from "@data-cabinet/core/row/Catalog"
import { tablesOf } from "@data-cabinet/core/row/Tables"
import { fromResult } from "@data-cabinet/core/runtime/FromResult"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Result } from "effect"
import { errorResponse } from "../server/ApiError.ts"
import { apiError } from "../api/EndpointErrors.ts"
import { DEADLINE_MILLIS } from "../api/EndpointRoute.ts"
import { faultError } from "../server/Fault.ts"
import { keyHeaders, rateHeaders, withRateHeaders } from "../api/WithRateHeaders.ts"
import { type FeedForms, WAIT_RETRY_SECONDS } from "../feed/FeedForms.ts"
import { HeldBodies, type Limits } from "../intake/BodyLimits.ts"
import { effectRunner } from "../server/EffectRunner.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Request, Response } from "../server/Request.ts"
import type { Route } from "../server/Route.ts"
import { agentStream } from "./AgentStream.ts"
import { bodyOf } from "../intake/IncomingBody.ts"

const LIMITS: Limits = { maxBytes: 65_536, idle: 10_000, total: 30_000, buffered: 64 * 1_048_576, store: 0 }

const isJson = (contentType: string | undefined): boolean =>
  /^application\/json\s*(;.*)?$/i.test((contentType ?? "").trim())

const HEADERS = {
  "content-type": "application/json",
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
}

const jsonResponse = (status: number, text: string, waitedMillis = 0): Response => ({
  status,
  headers: HEADERS,
  body: `${text}\n`,
  waitedMillis,
})

const refused = (status: number, message: string): Response => jsonResponse(status, rpcError("invalid", message))

const foreignOrigin = refused(403, "Pages of other origins may not use this endpoint.")

const notAllowed = errorResponse(
  { code: "method_not_allowed", message: "This endpoint supports only POST: it has no sessions and no streams." },
  { allow: "POST" },
)

/** The refusal before the body is read; undefined if acceptable. */
const refusedHead = ({ headers }: Request): Response | undefined => {
  if (!isJson(headers["content-type"])) {
    return refused(415, "Send the message as JSON, with Content-Type: application/json.")
  }
  const isPlain = (headers["content-encoding"] ?? "identity") === "identity"
  return isPlain ? undefined : refused(415, "Send the message without a Content-Encoding.")
}

const agentHeaders = ({ headers }: Request): AgentHeaders => ({
  version: headers["mcp-protocol-version"]?.trim(),
  method: headers["mcp-method"],
  name: headers["mcp-name"],
})

const decoder = new TextDecoder("utf-8", { fatal: true })

const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    return decoder.decode(bytes)
  } catch {
    return undefined
  }
}

const late = (message: AgentMessage): Response =>
  jsonResponse(200, rpcError("internal", "The database did not respond in time. Try again.", message.id ?? undefined))

const tooManyWait = (message: string): ToolError => toolRefusal("rate_limited", message, WAIT_RETRY_SECONDS)

const asToolError = (error: Refusal): ToolError =>
  "code" in error ? toolRefusal(error.code, error.message, error.retryAfter ?? 0) : error

/** Open streams of one key are bounded together with its waiting requests. */
const streamRefused = ({ message }: { readonly message: string }): ProtocolError => ({
  kind: "exhausted",
  message,
  data: { limit: "streams" },
})

type Refusal = StoreUnavailable | { readonly code: string; readonly message: string; readonly retryAfter?: number }

/** What answers a message that was read. */
const agentMessages = (forms: FeedForms) =>
  Effect.gen(function* () {
    const catalog = yield* Catalog
    const server = yield* agentServer
    const followed = yield* FollowFeed
    const subscriptions = yield* AgentSubscriptions
    const wheel = yield* timerWheel

    const readerOf = (request: Request, { scope = null, role }: Admitted): AgentReader => {
      const seesAddresses = scope === null && role !== undefined && mayDo(role, "address.read")
      const seen = { scope, seesAddresses, tables: tablesOf(catalog, scope) }
      const fingerprint = Buffer.from(keyName(keyHeaders(request)), "base64")
      return { ...seen, webhooks: subscriptions.of(fingerprint, server.events, seen), waiting: waitingOf(request) }
    }

    const waitingOf =
      (request: Request): AgentReader["waiting"] =>
      (work) =>
        forms.following(
          request,
          ({ again, leave }) => work({ again: Effect.mapError(again!, asToolError), leave: leave! }),
          tooManyWait,
        )

    /** Null for any other message. */
    const streamOf = (message: AgentMessage, reader: AgentReader, request: Request): Effect.Effect<Response> | null => {
      const { id, method, params, isStateless } = message
      if (method !== "events/stream" || id === null || !isStateless) return null
      const opened = Effect.gen(function* () {
        const start = yield* server.events.start(yield* server.events.request(params, reader), reader)
        return yield* Effect.mapError(
          forms.streaming(request, (again) => agentStream({ id, start, followed, again })),
          streamRefused,
        )
      })
      return Effect.match(opened, {
        onSuccess: (response) => response,
        onFailure: (error) => jsonResponse(200, refusedRequest(message, error).text),
      })
    }

    const handled = (message: AgentMessage, reader: AgentReader): Effect.Effect<Response> => {
      const work = Effect.map(server.handle(message, reader), (response) =>
        response === null
          ? { status: 202, headers: {}, body: null }
          : jsonResponse(response.status, response.text, response.waitedMillis),
      )
      const isChallenge = message.method === "events/subscribe"
      const waits = mayWait(message) ? MAX_WAIT_SECONDS * 1_000 : isChallenge ? CHALLENGE_MILLIS : 0
      return wheel.limit(DEADLINE_MILLIS + waits, Effect.succeed(late(message)), work)
    }

    return (message: AgentMessage, request: Request, rate: Admitted): Effect.Effect<Response> => {
      const reader = readerOf(request, rate)
      const stream = streamOf(message, reader, request)
      return stream === null
        ? handled(message, reader)
        : wheel.limit(DEADLINE_MILLIS, Effect.succeed(late(message)), stream)
    }
  })

export const agentRoute = (forms: FeedForms) =>
  Effect.gen(function* () {
    const authenticate = yield* Authenticate
    const respond = yield* agentMessages(forms)
    const wheel = yield* timerWheel
    const budget = yield* HeldBodies
    const run = yield* effectRunner
    const counted = yield* withRateHeaders
    const { origin: own } = new URL((yield* HttpSettings).baseUrl)

    const admitted = Effect.fnUntraced(function* (request: Request, rate: Admitted): Effect.fn.Return<Response> {
      if (!rate.allowed) {
        return errorResponse({ code: "rate_limited", message: overLimit(rate), retryAfter: rate.retryAfter })
      }
      const head = refusedHead(request)
      if (head !== undefined) return head
      const body = bodyOf(request, LIMITS, budget, wheel)
      const whole = yield* Effect.onInterrupt(Effect.promise(body.whole), () => Effect.sync(body.drop))
      if (Result.isFailure(whole)) {
        const isLarge = "code" in whole.failure && whole.failure.code === "too_large"
        return isLarge
          ? refused(413, `A message may have at most ${LIMITS.maxBytes} bytes.`)
          : refused(408, "The message did not arrive in time.")
      }
      const text = textOf(whole.success)
      if (text === undefined) return jsonResponse(400, rpcError("parse", "The message is not UTF-8."))
      const message = readAgentMessage(text, agentHeaders(request))
      if (Result.isFailure(message)) return jsonResponse(400, message.failure)
      return yield* respond(message.success, request, rate)
    })

    const work = (request: Request): Effect.Effect<Response> =>
      Effect.matchEffect(
        fromResult(() => authenticate.key(keyHeaders(request), wheel.now() + DEADLINE_MILLIS)),
        {
          onSuccess: (rate) =>
            Effect.map(admitted(request, rate), (response) => ({
              ...response,
              headers: { ...response.headers, ...rateHeaders(rate) },
            })),
          onFailure: (error: AuthenticateError | StoreUnavailable) => Effect.succeed(errorResponse(apiError(error))),
        },
      )

    const route: Route = {
      path: "/mcp",
      fault: (fault) => errorResponse(faultError(fault)),
      handle: async (request) => {
        const { origin } = request.headers
        if (origin !== undefined && origin !== own) return foreignOrigin
        return request.method === "POST" ? run(request, work(request)) : counted(request, notAllowed)
      },
    }
    return route
  })

/**
 * The frame around every keyed endpoint. It fixes the order of checks: method, key (401), rate (429), form of the path,
 * unknown parameters; only then does the endpoint run. Every response to a request with a valid key has the two rate
 * headers.
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { type Admitted, Authenticate, isAdmittedToAll } from "@data-cabinet/core/key/Authenticate"
import type { ReadScopeOrAll } from "@data-cabinet/core/key/ReadScope"
import { type AbortableCall, OwnCall, withDeadline } from "@data-cabinet/core/runtime/AbortableCall"
import type { Deadline } from "@data-cabinet/core/runtime/Deadline"
import { runResult } from "@data-cabinet/core/runtime/FromResult"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Result, type Scope } from "effect"
import { callRunner } from "../server/CallRunner.ts"
import { type Response, type Request, RequestGone } from "../server/Request.ts"
import type { Route, Target } from "../server/Route.ts"
import { acceptedType } from "./Preferences.ts"
import { apiError, onlyPost, rateLimited, RETRY_SECONDS, unknownParam, methodNotAllowed } from "./EndpointErrors.ts"
import { type ApiError, errorResponse } from "../server/ApiError.ts"
import { withRateHeaders, keyHeaders, rateHeaders } from "./WithRateHeaders.ts"
import type { Endpoint } from "./Endpoint.ts"
import { faultError, logFault } from "../server/Fault.ts"
import { decodeSegment, queryPairs } from "./QueryPairs.ts"

/** A request that passed the frame: its path decoded, its parameters in the order sent, all of them known. */
export interface KeyedRequest {
  readonly path: ReadonlyArray<string>
  readonly query: ReadonlyArray<readonly [name: string, value: string]>
  /** Null if its reader may read the whole cabinet. */
  readonly scope: ReadScopeOrAll
  /** The requested form; null for JSON. */
  readonly form: string | null
  readonly sent: Request
}

/** A response in its own form. */
export interface OtherForm {
  /** With its parameters. */
  readonly contentType: string
  readonly bytes: Uint8Array
  /** The address of the next page, relative to this one; null after the last. */
  readonly next: string | null
}

/** A response with its own headers, or without an end; JSON unless a header says otherwise. */
export type OwnResponse = Pick<Response, "headers" | "body" | "sent" | "streaming" | "waitedMillis">

/** JSON, as text or already in UTF-8. The bytes end with a newline; text gets its newline here. */
type Body = string | Uint8Array

type Responded = Result.Result<Body | OtherForm | OwnResponse, ApiError | StoreUnavailable>

/** The endpoint's own work: returns the response's body or an error. A work that is aborted may return, or throw, anything. */
export type Respond = (request: KeyedRequest, call: AbortableCall) => Promise<Responded>

/** For an endpoint whose work is an Effect. */
export const respondBy =
  (work: (request: KeyedRequest) => Effect.Effect<Body | OwnResponse, ApiError | StoreUnavailable>): Respond =>
  (request, call) =>
    runResult(work(request), call.context, call)

interface Options {
  /** A deadline other than the usual one, in milliseconds. */
  readonly deadline?: number
  /** How much longer a request may take, because it waits. */
  readonly waitMillis?: (request: Request) => number
  /** True for a short read without effects: the page of a recent reader is read while its key is checked. */
  readonly besideKey?: boolean
}

/**
 * From a request's head to its response, in milliseconds; after it the database counts as unavailable. No client waits 10 s.
 */
export const DEADLINE_MILLIS = 9_000

export const endpointRoute = (
  endpoint: Endpoint,
  respond: Respond,
  { deadline = DEADLINE_MILLIS, waitMillis = () => 0, besideKey = false }: Options = {},
): Effect.Effect<Route, never, Authenticate | Scope.Scope> =>
  Effect.gen(function* () {
    const authenticate = yield* Authenticate
    const wheel = yield* timerWheel
    const counted = yield* withRateHeaders
    const run = yield* callRunner
    const known = endpoint.query === "any" ? undefined : new Set(endpoint.query.map(({ name }) => name))
    const { forms, varies = forms === undefined ? undefined : "Accept" } = endpoint

    const work = async (
      sent: Request,
      target: Target,
      scope: ReadScopeOrAll,
      call: AbortableCall,
    ): Promise<Responded> => {
      const form = forms === undefined ? null : acceptedType(sent.headers["accept"], forms)
      const request = keyedRequest(endpoint, known, target, { scope, form, sent })
      return Result.isFailure(request)
        ? Result.fail(request.failure)
        : withDeadline(wheel, call, call.deadline, unavailable, (own) => respond(request.success, own))
    }

    const admitted = async (
      rate: Admitted,
      result: () => Promise<Responded>,
      call: AbortableCall,
    ): Promise<Response> => {
      const headers: Record<string, string> = rateHeaders(rate)
      if (varies !== undefined) headers["vary"] = varies
      if (!rate.allowed) return errorResponse(rateLimited(rate), headers)
      try {
        const responded = await result()
        return Result.isSuccess(responded)
          ? bodyResponse(responded.success, headers)
          : errorResponse(apiError(responded.failure), headers)
      } catch (fault) {
        if (call.isAborted) throw fault
        return errorResponse(faultError(logFault(endpoint, fault, call.context)), headers)
      }
    }

    const handle = async (
      request: Request,
      target: Target,
      began: Deadline,
      call: AbortableCall,
    ): Promise<Response> => {
      const sender = authenticate.sender(keyHeaders(request))
      const early =
        besideKey && sender.isRecent() ? earlyWork(call, (own) => work(request, target, null, own)) : undefined
      const key = await sender.key(began + DEADLINE_MILLIS)
      const mayLeave = isAdmittedToAll(key) && !call.isAborted
      if (!mayLeave) await early?.discard()
      if (Result.isFailure(key)) return errorResponse(apiError(key.failure))
      if (call.isAborted) throw new RequestGone()
      const result = (mayLeave && early?.result) || (() => work(request, target, key.success.scope ?? null, call))
      return admitted(key.success, result, call)
    }

    return {
      path: endpoint.path,
      fault: (fault) => errorResponse(faultError(fault)),
      handle: (request, target) => {
        const isRead = request.method === "GET" || request.method === "HEAD"
        if (endpoint.method === undefined && !isRead) return counted(request, methodNotAllowed)
        if (endpoint.method === "POST" && request.method !== "POST") return counted(request, onlyPost)
        const began = wheel.now()
        return run(request, began + deadline + waitMillis(request), (call) => handle(request, target, began, call))
      },
    }
  })

/** Work that begins before it is known whether its result may leave. */
const earlyWork = (call: AbortableCall, work: (own: AbortableCall) => Promise<Responded>) => {
  const own = new OwnCall(call.deadline, call.context)
  const stopListening = call.onAbort(() => own.abort())
  const working = work(own)
  const ended = working.then(stopListening, stopListening)
  return {
    result: () => working,
    /** Ends the work, and waits until it has ended. */
    discard: () => {
      own.abort()
      return ended
    },
  }
}

/** The request as the endpoint gets it, or why it does not. */
const keyedRequest = (
  endpoint: Endpoint,
  known: ReadonlySet<string> | undefined,
  target: Target,
  rest: Pick<KeyedRequest, "scope" | "form" | "sent">,
): Result.Result<KeyedRequest, ApiError> => {
  const path: Array<string> = []
  for (const [i, parameter] of endpoint.pathParameters.entries()) {
    const value = decodeSegment(target.params[i]!)
    const refusal = parameter.refuse(value)
    if (refusal !== undefined) return Result.fail(refusal)
    path.push(value!)
  }
  const query = queryPairs(target.query)
  if (known !== undefined) {
    const stranger = query.find(([name]) => !known.has(name))
    if (stranger !== undefined) return Result.fail(unknownParam(stranger[0], known))
  }
  return Result.succeed({ path, query, ...rest })
}

const bodyResponse = (body: Body | OtherForm | OwnResponse, headers: Readonly<Record<string, string>>): Response => {
  if (typeof body === "string") return typedResponse("application/json", `${body}\n`, headers)
  if (body instanceof Uint8Array) return typedResponse("application/json", body, headers)
  if ("bytes" in body) {
    const next = body.next === null ? {} : { link: `<${body.next}>; rel="next"` }
    return typedResponse(body.contentType, body.bytes, { ...headers, ...next })
  }
  const usual = typedResponse("application/json", null, headers)
  return { ...usual, ...body, headers: { ...usual.headers, ...body.headers } }
}

const typedResponse = (
  contentType: string,
  body: Body | null,
  headers: Readonly<Record<string, string>>,
): Response => ({
  status: 200,
  headers: {
    ...headers,
    "content-type": contentType,
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  },
  body,
})

const unavailable: Responded = Result.fail({
  code: "reader_off",
  message: "The database did not respond in time. Try again.",
  retryAfter: RETRY_SECONDS,
})

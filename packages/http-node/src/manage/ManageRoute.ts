/**
 * The frame around every endpoint of the management API. It fixes the order of checks: method (405), credentials (401),
 * rate (429), role (403), form of the path, unknown and invalid parameters, content type (415), size (413), JSON and
 * form of the body (400), form of the idempotency key (400); only then does the endpoint run, as the calling actor.
 * Every response to valid credentials has the two rate headers.
 */
import { overLimit } from "@data-cabinet/core/limit/RateLimiter"
import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { mayDo, type Role, roleMissing } from "@data-cabinet/core/key/Role"
import { type TimerWheel, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Cause, type Context, Effect } from "effect"
import { faultInWords, type LoggedFault, logFault } from "../server/Fault.ts"
import { decodeSegment, queryPairs } from "../api/QueryPairs.ts"
import { effectRunner, type RunEffect } from "../server/EffectRunner.ts"
import type { Response, Request } from "../server/Request.ts"
import type { Route, Target } from "../server/Route.ts"
import { type Identified, type Identify, identify } from "./Identify.ts"
import type { ManageEndpoint } from "./ManageEndpoint.ts"
import { RESPONSE_HEADERS, type ManageError, manageErrorResponse, manageErrorOf } from "./ManageError.ts"
import { onceFor, type Outcome, REPLAY_HEADER } from "./Once.ts"
import { manageBody } from "./ReadManageBody.ts"

/** Milliseconds from the head of a request that only reads to its response. No client waits 10 s. */
const READ_TIMEOUT_MILLIS = 9_000

type Refusal = ManageError | StoreUnavailable

/** One route for each path, with all its methods; paths without parameters come first. */
export const manageRoutes = (endpoints: ReadonlyArray<ManageEndpoint>) =>
  Effect.gen(function* () {
    const byPath = [...Map.groupBy(endpoints, ({ path }) => path)]
    const parameters = (path: string) => path.split("{").length
    byPath.sort(([one], [other]) => parameters(one) - parameters(other))
    const frame = {
      run: yield* effectRunner,
      who: yield* identify,
      wheel: yield* timerWheel,
      idempotency: yield* Idempotency,
    }
    return yield* Effect.forEach(byPath, ([path, its]) => manageRoute(path, its, frame))
  })

interface Frame {
  readonly run: RunEffect
  readonly who: Identify
  readonly wheel: TimerWheel
  readonly idempotency: Idempotency["Service"]
}

const manageRoute = Effect.fnUntraced(function* (
  path: ManageEndpoint["path"],
  its: ReadonlyArray<ManageEndpoint>,
  { run, ...services }: Frame,
) {
  const methods = new Map<string, Handle>()
  for (const endpoint of its) methods.set(endpoint.method, yield* handlerOf(endpoint, services))
  const get = methods.get("GET")
  if (get !== undefined) methods.set("HEAD", get)
  const allow = its.map(({ method }) => method).join(", ")
  const notAllowed = manageErrorResponse(
    { code: "method_not_allowed", message: `This endpoint supports only ${allow}.` },
    { allow },
  )
  const route: Route = {
    path,
    fault: (fault) => manageErrorResponse(faultError(fault)),
    handle: async (request, target) => {
      const handle = methods.get(request.method)
      if (handle === undefined) return notAllowed
      const work = Effect.matchEffect(services.who(request), {
        onSuccess: (identified) => handle(request, target, identified),
        onFailure: (error) => Effect.succeed(manageErrorResponse(manageErrorOf(error))),
      })
      return run(request, work)
    },
  }
  return route
})

type Handle = (request: Request, target: Target, identified: Identified) => Effect.Effect<Response>

const handlerOf = (endpoint: ManageEndpoint, { who, wheel, idempotency }: Omit<Frame, "run">) =>
  Effect.gen(function* () {
    const readBody = endpoint.body === null ? null : yield* manageBody(endpoint.body, wheel)
    const late: ManageError = { code: "unavailable", message: "The database did not respond in time." }

    const work = Effect.fnUntraced(function* (
      request: Request,
      target: Target,
      { actor, rate, session }: Identified,
      waited: (millis: number) => void,
    ): Effect.fn.Return<Outcome, Refusal> {
      if (!rate.allowed) return yield* Effect.fail(tooMany(rate))
      if (!mayDo(actor.role, endpoint.action)) return yield* Effect.fail(withoutRole(endpoint, actor.role))
      const path = yield* pathOf(endpoint, target)
      const pairs = queryPairs(target.query)
      const query = yield* parametersOf(endpoint, pairs)
      const body = readBody === null ? undefined : yield* readBody(request)
      const address = [endpoint.path, ...target.params, target.query]
      const sent = { actor, request, address, body: body?.text ?? "" }
      const again = Effect.flatMap(who(request, true), (now) =>
        mayDo(now.actor.role, endpoint.action) ? Effect.void : Effect.fail(withoutRole(endpoint, now.actor.role)),
      )
      const call = { actor, session, path, query, pairs, body: body?.value, request, again, waited }
      const outcome = Effect.provideService(onceFor(idempotency, endpoint, sent, call), CurrentActor, actor)
      if (endpoint.method !== "GET") return yield* outcome
      const limit = READ_TIMEOUT_MILLIS + (endpoint.waitMillis?.(query) ?? 0)
      return yield* wheel.limit(limit, Effect.fail(late), outcome)
    })

    const handle: Handle = (request, target, identified) => {
      const { limit, remaining } = identified.rate
      const headers = { "x-ratelimit-limit": String(limit), "x-ratelimit-remaining": String(remaining) }
      let waitedMillis = 0
      const waited = (millis: number) => void (waitedMillis += millis)
      return Effect.matchCauseEffect(work(request, target, identified, waited), {
        onSuccess: (result) => Effect.succeed({ ...responseOf(endpoint, result, headers), waitedMillis }),
        onFailure: (cause) => failed(endpoint, cause, headers),
      })
    }
    return handle
  })

const pathOf = (endpoint: ManageEndpoint, target: Target): Effect.Effect<ReadonlyArray<unknown>, ManageError> => {
  const values: Array<unknown> = []
  for (const [i, { name, read, expected }] of endpoint.segments.entries()) {
    const text = decodeSegment(target.params[i]!)
    const value = text === undefined ? undefined : read(text)
    if (value === undefined) {
      return Effect.fail({ code: "bad_id", message: `${name} must be ${expected}.`, param: name })
    }
    values.push(value)
  }
  return Effect.succeed(values)
}

const parametersOf = (
  endpoint: ManageEndpoint,
  pairs: ReadonlyArray<readonly [string, string]>,
): Effect.Effect<Readonly<Record<string, unknown>>, ManageError> => {
  const { parameters, readApiParameters = [] } = endpoint
  const known = [...parameters, ...readApiParameters].map(({ name }) => name)
  const values = new Map<string, unknown>()
  const stranger = pairs.find(([name]) => !known.includes(name))
  if (stranger !== undefined) return Effect.fail(unknownParam(stranger[0], known))
  for (const [name, text] of pairs) {
    const parameter = parameters.find((one) => one.name === name)
    if (parameter === undefined) continue
    const value = values.has(name) ? undefined : parameter.read(text)
    if (value === undefined) {
      const message = values.has(name) ? `${name} may be given only once.` : `${name} must be ${parameter.expected}.`
      return Effect.fail({ code: "bad_param", message, param: name })
    }
    values.set(name, value)
  }
  const missing = parameters.find(({ name, required }) => required === true && !values.has(name))
  if (missing !== undefined) {
    const message = `${missing.name} is missing: it must be ${missing.expected}.`
    return Effect.fail({ code: "bad_param", message, param: missing.name })
  }
  return Effect.succeed(Object.fromEntries(values))
}

const responseOf = (
  endpoint: ManageEndpoint,
  { result, replayed }: Outcome,
  rate: Readonly<Record<string, string>>,
): Response => {
  const response = replayed ? (endpoint.once?.replay ?? endpoint.response) : endpoint.response
  const headers = replayed ? { ...rate, [REPLAY_HEADER.toLowerCase()]: "true" } : rate
  if (response.status === 204) {
    const { "content-type": _, ...others } = RESPONSE_HEADERS
    return { status: 204, headers: { ...headers, ...others }, body: null }
  }
  const body = result instanceof Uint8Array ? result : `${JSON.stringify(result)}\n`
  return { status: response.status, headers: { ...headers, ...RESPONSE_HEADERS, ...contentHeaders(response) }, body }
}

/** A body other than JSON contains a sender's bytes: a browser saves it, and runs nothing in it. */
const contentHeaders = ({ contentType }: ManageEndpoint["response"]): Readonly<Record<string, string>> =>
  contentType === undefined
    ? {}
    : {
        "content-type": contentType,
        "content-disposition": "attachment",
        "content-security-policy": "sandbox; default-src 'none'",
      }

const failed = (
  endpoint: ManageEndpoint,
  cause: Cause.Cause<Refusal>,
  headers: Readonly<Record<string, string>>,
): Effect.Effect<Response> => {
  const failure = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failure !== undefined) {
    // Field by field: the message of a tagged error is not an enumerable property.
    const { code, message, param, retryAfter } = manageErrorOf(failure.error)
    const where = param ?? endpoint.params[code] ?? null
    return Effect.succeed(manageErrorResponse({ code, message, param: where, retryAfter }, headers))
  }
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  return Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(manageErrorResponse(faultError(logFault(endpoint, cause, context)), headers)),
  )
}

const faultError = (fault: LoggedFault): ManageError => ({ code: "internal_error", message: faultInWords(fault) })

const tooMany = (rate: Identified["rate"]): ManageError => ({
  code: "rate_limited",
  message: overLimit(rate),
  retryAfter: rate.retryAfter,
})

const withoutRole = ({ action }: ManageEndpoint, role: Role): ManageError => ({
  code: "role_missing",
  message: roleMissing(action, role),
})

const unknownParam = (name: string, known: ReadonlyArray<string>): ManageError => ({
  code: "unknown_param",
  message:
    known.length === 0
      ? `This endpoint has no parameters, but the request has ${JSON.stringify(name)}.`
      : `This endpoint has no parameter ${JSON.stringify(name)}. It has ${known.join(", ")}.`,
  param: name,
})

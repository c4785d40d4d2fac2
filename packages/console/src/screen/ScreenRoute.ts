/**
 * The frame around every screen. It fixes the order of checks: method (405), origin of a form (403), the caller
 * (sign-in or 401), rate (429), role (403), form of the path (404); only then does the screen run, as the calling
 * actor. A refusal is a screen too, with the status that the API would have.
 */
import { gzipSync } from "node:zlib"
import { type Actor, CurrentActor } from "@data-cabinet/core/audit/Actor"
import { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { type Action, mayDo, ROLE_NEEDED } from "@data-cabinet/core/key/Role"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { faultInWords, type LoggedFault, logFault } from "@data-cabinet/http-node/api/Fault"
import { decodeSegment, queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { bearerOf, type Identified, type Identify, identify } from "@data-cabinet/http-node/manage/Identify"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { ExternalSignIns } from "@data-cabinet/http-node/person/ExternalSignIn"
import { effectRunner } from "@data-cabinet/http-node/server/EffectRunner"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import type { Response, Request } from "@data-cabinet/http-node/server/Request"
import type { Route, Target } from "@data-cabinet/http-node/server/Route"
import { Cause, type Context, Effect } from "effect"
import { acceptsCoding } from "../assets/Assets.ts"
import { consolePath, type Frame, shell } from "../html/Shell.ts"
import { WORDS } from "../words/Words.ts"
import type { ConsoleRefusal, ConsoleScreen, Pairs, ScreenCall, ScreenResult } from "./ConsoleScreen.ts"
import { errorScreen, statusOf } from "./ErrorScreen.ts"
import { languageOf, lettersOf } from "./Preferences.ts"
import { formReader, type ReadForm } from "./ReadForm.ts"
import { isSameOrigin } from "@data-cabinet/http-node/server/SameOrigin"
import { SCREEN_HEADERS } from "./ScreenHeaders.ts"
import { sentOnce } from "./SentOnce.ts"

/** From a request's head to its screen, in milliseconds. */
const SCREEN_TIMEOUT_MILLIS = 9_000

interface Services {
  readonly who: Identify
  readonly readForm: ReadForm
  readonly idempotency: Idempotency["Service"]
  readonly baseUrl: string
  readonly base: string
  /** False where the program around the cabinet signs people in. */
  readonly signsIn: boolean
}

export const screenRoutes = (screens: ReadonlyArray<ConsoleScreen>) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* HttpSettings
    const base = new URL(baseUrl).pathname.replace(/\/$/, "")
    const services: Services = {
      who: yield* identify,
      readForm: yield* formReader,
      idempotency: yield* Idempotency,
      baseUrl,
      base,
      signsIn: (yield* ExternalSignIns).program === null,
    }
    const run = yield* effectRunner
    const wheel = yield* timerWheel
    const late: ManageError = { code: "unavailable", message: "The database did not respond in time." }
    const byParameters = screens.toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)
    return byParameters.map((screen): Route => {
      const refuse = (request: Request, error: ManageError) => refusal(frameOf(services, request, null), error)
      return {
        path: screen.path,
        fault: (fault, request) => refuse(request, faultError(fault)),
        handle: async (request, target) => {
          const frame = frameOf(services, request, null)
          const work = respond(screen, services, request, target)
          const timed = request.method === "POST" ? work : wheel.limit(SCREEN_TIMEOUT_MILLIS, Effect.fail(late), work)
          return run(
            request,
            Effect.matchCauseEffect(timed, {
              onSuccess: Effect.succeed,
              onFailure: (cause) =>
                failed(screen, frame, cause, services.signsIn ? signInInstead(frame, request) : null),
            }),
          )
        },
      }
    })
  })

const frameOf = ({ base, baseUrl }: Services, { headers }: Request, actor: Frame["actor"]): Frame => {
  const language = languageOf(headers)
  return { base, baseUrl, language, words: WORDS[language], letters: lettersOf(headers), actor }
}

const respond = Effect.fnUntraced(function* (
  screen: ConsoleScreen,
  services: Services,
  request: Request,
  target: Target,
): Effect.fn.Return<Response, ConsoleRefusal> {
  const isForm = request.method === "POST"
  if (!(isForm ? screen.post !== undefined : request.method === "GET" || request.method === "HEAD")) {
    return yield* refused("method_not_allowed", "This screen supports only GET.")
  }
  if (isForm && !isSameOrigin(request, services.baseUrl)) {
    return yield* refused("cross_origin", "The form came from a page of another origin.")
  }
  const action = isForm ? screen.post!.action : screen.action
  const known = action === null ? null : yield* admitted(action, services.who, request)
  const actor = known?.actor ?? null
  const path = target.params.map(decodeSegment)
  if (path.some((segment) => segment === undefined || segment.includes("\0"))) {
    return yield* refused("no_such_endpoint", "This address has no screen.")
  }
  const frame = frameOf(services, request, actor)
  const { query } = target
  const call: ScreenCall = {
    frame,
    actor,
    session: known?.session ?? null,
    path: path as ReadonlyArray<string>,
    query,
    pairs: queryPairs(query),
    request,
    mayStill: mayStill(services.who, request, action, actor),
  }
  const responding = isForm
    ? Effect.flatMap(screen.post!.readsBody === true ? NO_FORM : services.readForm(request), (form) =>
        sentOnce(services.idempotency, screen, { ...call, form }),
      )
    : screen.get(call)
  // Only a signed-in visitor sees a screen's own refusals.
  const result = yield* Effect.provideService(responding, CurrentActor, actor).pipe(
    Effect.catch((error) => Effect.succeed({ refused: manageErrorOf(error) })),
  )
  if (!("refused" in result)) return responseOf(frame, request, result)
  return refusal(frame, result.refused, isForm ? (screen.back?.(call.path) ?? null) : null)
})

const NO_FORM = Effect.succeed<Pairs>([])

const refused = (code: ManageError["code"], message: string) => Effect.fail<ManageError>({ code, message })

const admitted = Effect.fnUntraced(function* (
  action: Action,
  who: Identify,
  request: Request,
): Effect.fn.Return<Identified, ConsoleRefusal> {
  const identified = yield* who(request)
  const { actor, rate } = identified
  if (!rate.allowed) {
    const { limit, retryAfter } = rate
    const message = `${limit} requests a minute are allowed; the next minute begins in ${retryAfter} s.`
    return yield* Effect.fail<ManageError>({ code: "rate_limited", message, retryAfter })
  }
  if (mayDo(actor.role, action)) return identified
  return yield* refused("role_missing", `This needs the role ${ROLE_NEEDED[action]}; yours is ${actor.role}.`)
})

/** Without the database nothing can be shown anyway, so this may wait. */
const mayStill = (who: Identify, request: Request, action: Action | null, actor: Actor | null) =>
  Effect.match(who(request, true), {
    onSuccess: ({ actor: now }) =>
      action === null || (now.kind === actor?.kind && now.id === actor.id && mayDo(now.role, action)),
    onFailure: (error) => manageErrorOf(error).code === "unavailable",
  })

const responseOf = (frame: Frame, request: Request, result: ScreenResult): Response => {
  if ("answer" in result) return result.answer
  if ("location" in result) {
    const { location, cookies = [] } = result
    return { status: 303, headers: { ...SCREEN_HEADERS, location }, cookies, body: null }
  }
  const headers = { ...SCREEN_HEADERS, ...result.headers }
  if ("fragment" in result) return packed(request, { status: 200, headers, body: result.fragment })
  return packed(request, { status: result.status ?? 200, headers, body: shell(frame, result.screen) })
}

const PACK_BYTES = 1_000

/** The response to a form may contain a secret next to sent data: so that its length reveals nothing, it is not compressed. */
const packed = (request: Request, plain: Response & { readonly body: string }): Response => {
  const headers = { ...plain.headers, vary: "Accept-Encoding, Accept-Language, Cookie" }
  if (request.method === "POST" || plain.body.length < PACK_BYTES || !acceptsCoding(request, "gzip")) {
    return { ...plain, headers }
  }
  const body = gzipSync(plain.body, { level: 4 })
  return { ...plain, headers: { ...headers, "content-encoding": "gzip" }, body }
}

const refusal = (frame: Frame, error: ManageError, back: string | null = null): Response => {
  const status = statusOf(error)
  const retry = error.retryAfter === undefined ? {} : { "retry-after": String(error.retryAfter) }
  return { status, headers: { ...SCREEN_HEADERS, ...retry }, body: shell(frame, errorScreen(frame, error, back)) }
}

/** To the form that signs in, and back. Null for a form, which would be lost, and for a program with a token. */
const signInInstead = (frame: Frame, { method, url, headers }: Request): Response | null => {
  if (method === "POST" || bearerOf(headers) !== undefined) return null
  const to = encodeURIComponent(url.slice(Math.max(0, url.indexOf("/console/"))))
  return {
    status: 303,
    headers: { ...SCREEN_HEADERS, location: `${consolePath(frame, "sign-in")}?to=${to}` },
    body: null,
  }
}

const failed = (
  screen: ConsoleScreen,
  frame: Frame,
  cause: Cause.Cause<ConsoleRefusal>,
  signIn: Response | null,
): Effect.Effect<Response> => {
  const failure = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failure !== undefined) {
    const error = manageErrorOf(failure.error)
    if (error.code === "unauthorized" && signIn !== null) return Effect.succeed(signIn)
    const response = refusal(frame, error)
    if (error.code !== "method_not_allowed") return Effect.succeed(response)
    const allow = screen.post === undefined ? "GET" : "GET, POST"
    return Effect.succeed({ ...response, headers: { ...response.headers, allow } })
  }
  if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
  return Effect.contextWith((context: Context.Context<never>) =>
    Effect.succeed(refusal(frame, faultError(logFault(screen, cause, context)))),
  )
}

const faultError = (fault: LoggedFault): ManageError => ({ code: "internal_error", message: faultInWords(fault) })

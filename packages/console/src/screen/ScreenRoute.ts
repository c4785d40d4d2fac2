/**
 * The frame around every screen. It fixes the order of checks: method (405), origin of a form (403), the caller
 * (sign-in or 401), rate (429), role (403), form of the path (404); only then does the screen run, as the calling
 * actor. A refusal is a screen too, with the status that the API would have.
 */
import { CurrentActor } from "@data-cabinet/core/audit/Actor"
import { Idempotency } from "@data-cabinet/core/idempotency/Idempotency"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { faultInWords, type LoggedFault, logFault } from "@data-cabinet/http-node/server/Fault"
import { decodeSegment, queryPairs } from "@data-cabinet/http-node/api/QueryPairs"
import { bearerOf, type Identify, identify } from "@data-cabinet/http-node/manage/Identify"
import { type ManageError, manageErrorOf } from "@data-cabinet/http-node/manage/ManageError"
import { ExternalSignIns } from "@data-cabinet/http-node/session/ExternalSignIn"
import { effectRunner } from "@data-cabinet/http-node/server/EffectRunner"
import { HttpSettings } from "@data-cabinet/http-node/server/HttpSettings"
import type { Response, Request } from "@data-cabinet/http-node/server/Request"
import type { Route, Target } from "@data-cabinet/http-node/server/Route"
import { Cause, type Context, Effect, Result } from "effect"
import { consolePath, type Frame } from "../html/Shell.ts"
import { WORDS } from "../words/Words.ts"
import { FORM_AT } from "../html/PostForm.ts"
import { valueOf } from "./SelectionLinks.ts"
import { admitted, mayStill, refused } from "./CallerCheck.ts"
import {
  type ConsoleRefusal,
  type ConsoleScreen,
  type FormCall,
  type Pairs,
  type ScreenCall,
  wantsFragment,
} from "./ConsoleScreen.ts"
import { type DoneLines, doneLines } from "./DoneLine.ts"
import { formAgain, isConsoleAddress, type PlaceOf, placesOf } from "./FormAgain.ts"
import { type KeptForms, keptForms } from "./KeptForm.ts"
import { languageOf, lettersOf, lookOf } from "./Preferences.ts"
import { formReader, type ReadForm } from "./ReadForm.ts"
import { isSameOrigin } from "@data-cabinet/http-node/server/SameOrigin"
import { fragmentRefusal, redirect, refusal, responseOf } from "./ScreenResponse.ts"
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
  readonly placeOf: PlaceOf
  readonly keptForms: KeptForms
  readonly doneLines: DoneLines
}

export const screenRoutes = (screens: ReadonlyArray<ConsoleScreen>) =>
  Effect.gen(function* () {
    const { baseUrl } = yield* HttpSettings
    const base = new URL(baseUrl).pathname.replace(/\/$/, "")
    const byParameters = screens.toSorted((one, other) => one.path.split("{").length - other.path.split("{").length)
    const placeOf = placesOf(byParameters)
    const services: Services = {
      placeOf,
      keptForms: yield* keptForms,
      doneLines: yield* doneLines(placeOf),
      who: yield* identify,
      readForm: yield* formReader,
      idempotency: yield* Idempotency,
      baseUrl,
      base,
      signsIn: (yield* ExternalSignIns).program === null,
    }
    const run = yield* effectRunner
    const wheel = yield* timerWheel
    const late: ConsoleRefusal = { code: "unavailable", message: "The database did not respond in time." }
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
            timed.pipe(
              Effect.catchIf(isSignedOut, (error) =>
                Effect.flatMap(signInInstead(screen, services, request, target), (response) =>
                  response === null ? Effect.fail(error) : Effect.succeed(response),
                ),
              ),
              Effect.matchCauseEffect({
                onSuccess: Effect.succeed,
                onFailure: (cause) => failed(screen, frame, cause),
              }),
            ),
          )
        },
      }
    })
  })

const frameOf = ({ base, baseUrl }: Services, { headers }: Request, actor: Frame["actor"]): Frame => {
  const language = languageOf(headers)
  return { base, baseUrl, language, words: WORDS[language], letters: lettersOf(headers), look: lookOf(headers), actor }
}

const isSignedOut = (error: ConsoleRefusal): boolean => manageErrorOf(error).code === "unauthorized"

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
    address: addressAt(screen, target),
    path: path as ReadonlyArray<string>,
    query,
    pairs: queryPairs(query),
    request,
    mayStill: mayStill(services.who, request, action, actor),
  }
  const responding = isForm ? sent(screen, services, call) : visited(screen, services, call)
  return yield* Effect.provideService(responding, CurrentActor, actor)
})

/** Its path from `/console/` on, as sent. */
const addressAt = ({ path }: ConsoleScreen, { params }: Target): string => {
  const rest = [...params]
  return path.replace(/\{[^{}]*\}/g, () => rest.shift() ?? "")
}

/** The screen of a visit, with the outcome of the visitor's last form. */
const visited = Effect.fnUntraced(function* (
  screen: ConsoleScreen,
  { placeOf, doneLines: { shown }, keptForms: { restored } }: Services,
  call: ScreenCall,
): Effect.fn.Return<Response, ConsoleRefusal> {
  const at = call.query === "" ? call.address : `${call.address}?${call.query}`
  const result = yield* Effect.result(screen.get(call))
  // Only a signed-in visitor sees a screen's own refusals.
  if (Result.isFailure(result)) {
    const error = manageErrorOf(result.failure)
    const again = screen.formAt === undefined ? null : yield* formAgain(placeOf, call, call.pairs, screen, error)
    return again === null ? refusal(call.frame, error) : responseOf(call, again.result, again.address)
  }
  if (!("screen" in result.success)) return responseOf(call, result.success, at)
  const kept = yield* restored(call, result.success.screen, at)
  const done = yield* shown(call, kept.screen, at)
  return responseOf(call, { ...result.success, screen: done.screen }, at, [...kept.cookies, ...done.cookies])
})

const sent = Effect.fnUntraced(function* (
  screen: ConsoleScreen,
  { readForm, idempotency, placeOf, doneLines: { said } }: Services,
  call: ScreenCall,
): Effect.fn.Return<Response> {
  const read = yield* screen.post!.readsBody === true ? NO_FORM : Effect.result(readForm(call.request))
  const back = screen.back?.(call.path) ?? null
  if (Result.isFailure(read)) return refusal(call.frame, read.failure, back)
  const form: FormCall = { ...call, form: read.success }
  const result = yield* Effect.result(sentOnce(idempotency, screen, form))
  if (Result.isSuccess(result)) {
    const { success } = result
    const done =
      "location" in success && success.isUnknown !== true ? yield* said(screen, form, success.location) : null
    return responseOf(call, success, valueOf(form.form, FORM_AT) ?? call.address, done === null ? [] : [done])
  }
  const error = manageErrorOf(result.failure)
  // A script shows the refusal next to the form, which is still filled in.
  if (wantsFragment(call)) return fragmentRefusal(call.frame, error)
  const again = yield* formAgain(placeOf, form, form.form, screen, error)
  return again === null ? refusal(call.frame, error, back) : responseOf(call, again.result, again.address)
})

const NO_FORM = Effect.succeed(Result.succeed<Pairs>([]))

/** Redirects to the sign-in form, and back; a sent form is kept until then. Null for a program with a token. */
const signInInstead = Effect.fnUntraced(function* (
  screen: ConsoleScreen,
  services: Services,
  request: Request,
  target: Target,
): Effect.fn.Return<Response | null, ConsoleRefusal> {
  if (!services.signsIn || bearerOf(request.headers) !== undefined) return null
  const frame = frameOf(services, request, null)
  const address = addressAt(screen, target)
  const signIn = (to: string, more = "") => `${consolePath(frame, "sign-in")}?to=${encodeURIComponent(to)}${more}`
  if (request.method !== "POST") return redirect(signIn(target.query === "" ? address : `${address}?${target.query}`))
  if (screen.post?.readsBody === true) return redirect(signIn(address, ENDED))
  const form = yield* services.readForm(request)
  const path = target.params.map((segment) => decodeSegment(segment) ?? "")
  const back = `/console/${screen.back?.(path) ?? ""}`
  const to = [valueOf(form, FORM_AT) ?? "", back].find(isConsoleAddress) ?? "/console/"
  const cookie = yield* services.keptForms.keep(request, to, { action: frame.base + address, pairs: form })
  return redirect(signIn(to, ENDED), cookie === null ? [] : [cookie])
})

const ENDED = "&ended=1"

const failed = (screen: ConsoleScreen, frame: Frame, cause: Cause.Cause<ConsoleRefusal>): Effect.Effect<Response> => {
  const failure = cause.reasons.find((reason) => reason._tag === "Fail")
  if (failure !== undefined) {
    const error = manageErrorOf(failure.error)
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

/**
 * `/webhook/<secret>`: the address that takes in data. It checks, in this order and no other: the method, the rate of the
 * client, the source, the rate of the source, the content encoding and the size, and only then what the body says. The
 * secret is in no log line and no answer.
 */
import { deadlines } from "@data-cabinet/core/cabinet/Deadlines"
import { Intake } from "@data-cabinet/core/intake/Intake"
import { Cause, Effect, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { logFault } from "../api/Fault.ts"
import { decodeSegment } from "../api/QueryPairs.ts"
import { HttpSettings } from "../cabinet/HttpSettings.ts"
import { clientAddress } from "../limit/ClientAddress.ts"
import type { Route } from "../Route.ts"
import { storeLate } from "./BodyError.ts"
import type { BodyBudget } from "./BodyLimits.ts"
import { BodyLimits } from "./BodyLimits.ts"
import { codingsOf, decodeContent } from "./DecodeContent.ts"
import {
  acceptedResponse,
  faultBody,
  faultResponse,
  isNavigation,
  methodResponse,
  preflightResponse,
  refusedResponse,
  unavailableResponse,
} from "./IntakeResponse.ts"
import type { Body } from "./IncomingBody.ts"
import { bodyOf } from "./ReadBody.ts"
import { senderOf } from "./SenderOf.ts"
import { type Patience, withPatience } from "./StorePatience.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse

/** The routes of the intake address; an address that lost its secret is answered in the same words as a wrong one. */
export const intakeRoutes: Effect.Effect<ReadonlyArray<Route>, never, Intake | HttpSettings | Scope.Scope> = Effect.gen(
  function* () {
    const intake = yield* Intake
    const settings = yield* HttpSettings
    const limits = yield* BodyLimits
    const budget: BodyBudget = { held: 0 }
    const ends = yield* deadlines

    const take = Effect.fnUntraced(function* (
      request: Request,
      secret: string,
      body: Body,
      person: boolean,
      patience: Patience,
    ) {
      const ip = clientAddress(request, settings.trustedProxies)
      const source = yield* intake.admit(secret, ip)
      const codings = yield* codingsOf(request.headers["content-encoding"])
      const received = yield* patience.besides(body.whole)
      const content = yield* decodeContent(received, codings, limits.maxBytes)
      const sender = senderOf(request.headers, ip)
      const asked = { source, secret, ...content, query: rawQuery(request.url), sender }
      patience.late = NOT_ANSWERED
      const answer = yield* intake.receive(asked)
      return acceptedResponse(request, answer, person)
    })

    const handle = (request: Request, secret: string): Effect.Effect<Response> => {
      if (request.method === "OPTIONS") return Effect.succeed(preflightResponse(request))
      if (request.method !== "POST") return Effect.succeed(methodResponse(request))
      const person = isNavigation(request)
      const body = bodyOf(request, limits, budget, ends)
      // A sender that hangs up after its last byte has sent it all the same; one that hangs up before ends its body.
      const work = withPatience(ends, limits.store, NOT_LOOKED_UP, (patience) =>
        take(request, secret, body, person, patience),
      )
      return Effect.catchCause(work, (cause) => {
        body.drop()
        const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error
        if (failure?._tag === "IntakeError") return Effect.succeed(refusedResponse(request, failure, person))
        if (failure !== undefined) return Effect.succeed(unavailableResponse(request, failure, person))
        if (Cause.hasInterruptsOnly(cause)) return Effect.failCause(cause as Cause.Cause<never>)
        return Effect.map(logFault(WITH_SECRET, cause), (number) => faultResponse(request, number, person))
      })
    }

    return [
      {
        path: WITH_SECRET.path,
        handle: (request, target) => handle(request, decodeSegment(target.params[0] ?? "") ?? ""),
        fault: faultBody,
      },
      { path: "/webhook/", handle: (request) => handle(request, ""), fault: faultBody },
      { path: "/webhook", handle: (request) => handle(request, ""), fault: faultBody },
    ]
  },
)

const NOT_LOOKED_UP = storeLate(false)
const NOT_ANSWERED = storeLate(true)

const WITH_SECRET = { path: "/webhook/{intake_secret}" } as const

/** As sent, escapes untouched: in which charset they are to be read is for intake to decide. */
const rawQuery = (url: string): string => {
  const start = url.indexOf("?")
  if (start === -1) return ""
  const end = url.indexOf("#", start)
  return url.slice(start + 1, end === -1 ? undefined : end)
}

/**
 * `/webhook/<secret>`: the address that takes in data. It checks, in this order and no other: the method, the rate of the
 * client, the source, the rate of the source, the content encoding and the size, and only then what the body says. The
 * secret is in no log line and no answer.
 */
import { Course } from "@data-cabinet/core/runtime/Course"
import { timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Intake } from "@data-cabinet/core/intake/Intake"
import type { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import { Cause, type Context, Effect, Exit, type Scope } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import { logFault } from "../api/Fault.ts"
import { decodeSegment } from "../api/QueryPairs.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import { clientAddress } from "../limit/ClientAddress.ts"
import { type Received, receivedOf, type Route, type Target } from "../server/Route.ts"
import { storeTimedOut } from "./BodyError.ts"
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
import { bodyOf } from "./ReadBody.ts"
import { requestMetadata } from "./RequestMetadata.ts"
import { tellUnavailable } from "./Unavailable.ts"

type Request = HttpServerRequest.HttpServerRequest
type Response = HttpServerResponse.HttpServerResponse
type Refused = IntakeError | StoreUnavailable

/** The routes of the intake address; an address that lost its secret is answered in the same words as a wrong one. */
export const intakeRoutes: Effect.Effect<ReadonlyArray<Route>, never, Intake | HttpSettings | Scope.Scope> = Effect.gen(
  function* () {
    const intake = yield* Intake
    const settings = yield* HttpSettings
    const limits = yield* BodyLimits
    const tell = tellUnavailable()
    const budget: BodyBudget = { held: 0 }
    const ends = yield* timerWheel

    /** From a request's head to its answer, in plain calls. */
    const take = (
      request: Received,
      secret: string,
      answer: (response: Effect.Effect<Response>) => void,
      context: Context.Context<never>,
    ): void => {
      const person = isNavigation(request)
      const body = bodyOf(request, limits, budget, ends)
      const ended = (outcome: Exit.Exit<Response, Refused>): void => {
        patience.end()
        if (Exit.isSuccess(outcome)) return answer(Effect.succeed(outcome.value))
        body.drop()
        answer(Effect.suspend(() => failureResponse(request, outcome.cause, person, tell)))
      }
      const course = new Course<Response, Refused>(ended, context)
      let late = NOT_LOOKED_UP
      // One allowance for all that is asked of the store. The time in which the body arrives has its limits in BodyLimits.
      const patience = ends.begin(limits.store, () => course.end(Exit.fail(late)))
      course.step(() => {
        const ip = clientAddress(request, settings.trustedProxies)
        course.run(intake.admit(secret, ip), (source) =>
          course.run(codingsOf(request.headers["content-encoding"]), (codings) => {
            patience.pause()
            course.ask(body.whole, (received) => {
              patience.resume()
              course.run(decodeContent(received, codings, limits.maxBytes), (content) => {
                late = NOT_ANSWERED
                const sender = requestMetadata(request.headers, ip)
                const submission = { source, secret, ...content, query: rawQuery(request.url), sender }
                course.ask(intake.take(submission), (accepted) =>
                  course.end(Exit.succeed(acceptedResponse(request, accepted, person))),
                )
              })
            })
          }),
        )
      })
    }

    const handle = (request: Request, secret: string): Effect.Effect<Response> => {
      if (request.method === "OPTIONS") return Effect.succeed(preflightResponse(request))
      if (request.method !== "POST") return Effect.succeed(methodResponse(request))
      // A sender that hangs up after its last byte has sent it all the same; one that hangs up before ends its body.
      return Effect.uninterruptible(
        Effect.contextWith((context: Context.Context<never>) =>
          Effect.callback<Response>((resume) => take(receivedOf(request), secret, resume, context)),
        ),
      )
    }

    return [
      {
        path: WITH_SECRET.path,
        handle: (request, target) => handle(request, secretOf(target)),
        take: (request, target, answer, context) => take(request, secretOf(target), answer, context),
        fault: faultBody,
      },
      { path: "/webhook/", handle: (request) => handle(request, ""), fault: faultBody },
      { path: "/webhook", handle: (request) => handle(request, ""), fault: faultBody },
    ]
  },
)

const NOT_LOOKED_UP = storeTimedOut(false)
const NOT_ANSWERED = storeTimedOut(true)

const secretOf = ({ params }: Target): string => decodeSegment(params[0] ?? "") ?? ""

const WITH_SECRET = { path: "/webhook/{intake_secret}" } as const

const failureResponse = (
  request: Received,
  cause: Cause.Cause<Refused>,
  person: boolean,
  tell: (error: StoreUnavailable) => Effect.Effect<void>,
): Effect.Effect<Response> => {
  const failure = cause.reasons.find((reason) => reason._tag === "Fail")?.error
  if (failure?._tag === "IntakeError") return Effect.succeed(refusedResponse(request, failure, person))
  if (failure !== undefined) return Effect.as(tell(failure), unavailableResponse(request, failure, person))
  if (Cause.hasInterruptsOnly(cause)) return Effect.interrupt
  return Effect.map(logFault(WITH_SECRET, cause), (number) => faultResponse(request, number, person))
}

/** As sent, escapes untouched: in which charset they are to be read is for intake to decide. */
const rawQuery = (url: string): string => {
  const start = url.indexOf("?")
  if (start === -1) return ""
  const end = url.indexOf("#", start)
  return url.slice(start + 1, end === -1 ? undefined : end)
}

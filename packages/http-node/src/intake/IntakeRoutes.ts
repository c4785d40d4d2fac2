/**
 * The intake address. Before it reads a body it refuses clients and sources over their rate, wrong secrets, and unknown
 * content encodings; then bodies that are too large or too slow; then what the use case refuses, such as wrong
 * signatures. A sender that hangs up after its last byte has sent the whole body; one that hangs up earlier aborts it.
 *
 * Decision: docs/decisions/0023-no-fiber-for-intake-requests.md
 */
import type { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { Intake } from "@data-cabinet/core/intake/Intake"
import type { IntakeError } from "@data-cabinet/core/intake/IntakeError"
import type { IntakeResult, Sender } from "@data-cabinet/core/intake/IntakeRequest"
import type { IntakeSource } from "@data-cabinet/core/source/Source"
import { mayBeChallenge } from "@data-cabinet/core/verification/Handshake"
import { type TimerWheel, timerWheel } from "@data-cabinet/core/runtime/TimerWheel"
import { Effect, Result, type Scope } from "effect"
import { decodeSegment } from "../api/QueryPairs.ts"
import { clientAddress } from "../server/ClientAddress.ts"
import { HttpSettings } from "../server/HttpSettings.ts"
import type { Response, Request } from "../server/Request.ts"
import type { Route } from "../server/Route.ts"
import { BodyLimits, HeldBodies, type Limits } from "./BodyLimits.ts"
import { codingsOf, decodeContent } from "./ContentEncoding.ts"
import { type Body, bodyOf } from "./IncomingBody.ts"
import {
  acceptedResponse,
  asksPermission,
  faultResponse,
  handshakeResponse,
  isNavigation,
  LOOK_RESPONSE,
  methodResponse,
  permissionResponse,
  preflightResponse,
  refusedResponse,
  unavailableResponse,
} from "./IntakeResponses.ts"
import { challengeResponse, onlyGetResponse, proofScriptResponse } from "./ProofResponses.ts"
import { unavailableLog } from "./UnavailableLog.ts"
import { headerText } from "@data-cabinet/core/text/HeaderText"

type Received = Result.Result<IntakeResult, IntakeError | StoreUnavailable>

/** The routes of the intake address. An address without its secret gets the same response as one with a wrong secret. */
export const intakeRoutes: Effect.Effect<ReadonlyArray<Route>, never, Intake | HttpSettings | Scope.Scope> = Effect.gen(
  function* () {
    const intake = yield* Intake
    const settings = yield* HttpSettings
    const limits = yield* BodyLimits
    const budget = yield* HeldBodies
    const wheel = yield* timerWheel

    const refused = refuser(unavailableLog())
    const { asked, looked } = lookups({ intake, settings, limits, wheel, refused })

    /** From a request's head to the use case's result. */
    const receive = async (request: Request, secret: string, body: Body): Promise<Received> => {
      const ip = clientAddress(request, settings.trustedProxies)
      const until = wheel.now() + limits.store
      const { context } = request
      const admitted = await intake.admit(secret, ip, { deadline: until, context })
      if (Result.isFailure(admitted)) return Result.fail(admitted.failure)
      const codings = codingsOf(request.headers["content-encoding"])
      if (Result.isFailure(codings)) return Result.fail(codings.failure)
      // One time budget covers all calls to the store; the arrival of the body has its own limits.
      const left = until - wheel.now()
      const received = await body.whole()
      if (Result.isFailure(received)) return Result.fail(received.failure)
      const deadline = wheel.now() + left
      const decoded = await decodeContent(
        received.success,
        codings.success,
        limits.maxBytes,
        request.headers["content-type"],
      )
      if (Result.isFailure(decoded)) return Result.fail(decoded.failure)
      return intake.receive({
        source: admitted.success,
        secret,
        ...decoded.success,
        query: rawQuery(request.url),
        baseUrl: settings.baseUrl,
        sender: requestMetadata(request.headers, ip),
        headers: request.headers,
        deadline,
        context,
      })
    }

    const handle = async (request: Request, secret: string): Promise<Response> => {
      if (request.method === "HEAD") return looked(request, secret, () => LOOK_RESPONSE)
      if (request.method === "OPTIONS") {
        return asksPermission(request)
          ? looked(request, secret, ({ rate }) => permissionResponse(request, rate ?? null))
          : preflightResponse(request)
      }
      if (request.method === "GET") return (await asked(request, secret)) ?? methodResponse(request)
      if (request.method !== "POST") return methodResponse(request)
      const body = bodyOf(request, limits, budget, wheel)
      try {
        const received = await receive(request, secret, body)
        return Result.isSuccess(received)
          ? acceptedResponse(request, received.success, isNavigation(request))
          : refused(request, received.failure)
      } finally {
        body.drop()
      }
    }

    const routeOf = (path: Route["path"]): Route => ({
      path,
      handle: (request, { params }) => handle(request, decodeSegment(params[0] ?? "") ?? ""),
      fault: (fault, request) => faultResponse(request, fault, isNavigation(request)),
    })
    return [
      ...["/webhook/{intake_secret}" as const, "/webhook/" as const, "/webhook" as const].map(routeOf),
      ...proofRoutes({ intake, settings, limits, wheel, refused }),
    ]
  },
)

/** What a form fetches before it is sent, if its source demands a proof of a person. */
const proofRoutes = ({ intake, settings, limits, wheel, refused }: LookupPorts): ReadonlyArray<Route> => {
  const challenge = async (request: Request, secret: string): Promise<Response> => {
    if (request.method === "OPTIONS") return preflightResponse(request, "GET")
    if (request.method !== "GET") return onlyGetResponse
    const ip = clientAddress(request, settings.trustedProxies)
    const deadline = wheel.now() + limits.store
    const issued = await intake.formChallenge(secret, ip, { deadline, context: request.context })
    return Result.isFailure(issued) ? refused(request, issued.failure) : challengeResponse(issued.success)
  }
  const fault: Route["fault"] = (logged, request) => faultResponse(request, logged, false)
  return [
    {
      path: "/webhook/{intake_secret}/challenge",
      handle: (request, { params }) => challenge(request, decodeSegment(params[0] ?? "") ?? ""),
      fault,
    },
    {
      path: "/webhook/{intake_secret}/proof.js",
      handle: async ({ method }) => (method === "GET" || method === "HEAD" ? proofScriptResponse : onlyGetResponse),
      fault,
    },
  ]
}

/** The responses that only look up a source. */
const lookups = ({ intake, settings, limits, wheel, refused }: LookupPorts) => {
  /** The response to a provider's challenge; null for any other GET. */
  const asked = async (request: Request, secret: string): Promise<Response | null> => {
    const query = rawQuery(request.url)
    if (!mayBeChallenge(query)) return null
    const { context } = request
    const ip = clientAddress(request, settings.trustedProxies)
    const answer = await intake.answerChallenge({ secret, ip, query, deadline: wheel.now() + limits.store, context })
    if (Result.isFailure(answer)) return refused(request, answer.failure)
    return answer.success === null ? null : handshakeResponse(answer.success)
  }

  /**
   * The response to a sender that checks the address before it sends. Counts against the rates; nothing of it is kept.
   */
  const looked = async (
    request: Request,
    secret: string,
    respond: (source: IntakeSource) => Response,
  ): Promise<Response> => {
    const { context } = request
    const ip = clientAddress(request, settings.trustedProxies)
    const found = await intake.look(secret, ip, { deadline: wheel.now() + limits.store, context })
    return Result.isSuccess(found) ? respond(found.success) : refused(request, found.failure)
  }

  return { asked, looked }
}

type Refuser = (request: Request, error: IntakeError | StoreUnavailable) => Response

interface LookupPorts {
  readonly intake: Intake["Service"]
  readonly settings: HttpSettings["Service"]
  readonly limits: Limits
  readonly wheel: TimerWheel
  readonly refused: Refuser
}

const refuser =
  (tell: ReturnType<typeof unavailableLog>): Refuser =>
  (request, error) => {
    const person = isNavigation(request)
    if (error._tag === "IntakeError") return refusedResponse(request, error, person)
    tell(error, request.context)
    return unavailableResponse(request, error, person)
  }

/** As sent, with escapes unchanged: intake decides their charset. */
const rawQuery = (url: string): string => {
  const start = url.indexOf("?")
  if (start === -1) return ""
  const end = url.indexOf("#", start)
  return url.slice(start + 1, end === -1 ? undefined : end)
}

/** The metadata kept of every request: five headers and the address. Sources may keep more. `ip` as resolved by the caller. */
const requestMetadata = (headers: Request["headers"], ip: string | null): Sender => ({
  contentType: textOf(headers["content-type"]),
  ip,
  referer: textOf(headers["referer"]) ?? null,
  origin: textOf(headers["origin"]) ?? null,
  userAgent: textOf(headers["user-agent"]) ?? null,
  acceptLanguage: textOf(headers["accept-language"]) ?? null,
})

const textOf = (value: string | undefined): string | undefined => (value === undefined ? undefined : headerText(value))

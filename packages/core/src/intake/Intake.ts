/**
 * Intake: rate limits, verification of the sender, parsing, and appending to the event log. Every body within the
 * limits that comes from an admitted client and passes its source's verification becomes an event, whether it parses or
 * not. A source may also accept unverified requests, and mark them. A refusal comes before anything is stored.
 */
import { Clock, Context, Effect, Layer, Option, Result } from "effect"
import type { Call } from "../runtime/Call.ts"
import { runResult } from "../runtime/FromResult.ts"
import { beginStep, instrument } from "../runtime/Instrument.ts"
import { type TimerWheel, timerWheel } from "../runtime/TimerWheel.ts"
import { filteredDeliveries } from "../delivery/FilteredDeliveries.ts"
import { StoreUnavailable, storeTimedOut } from "../error/StoreUnavailable.ts"
import { appendEvents, EventLog } from "../event/EventLog.ts"
import type { AcceptRequest, Appended, Receipt } from "../event/EventLog.ts"
import { fingerprintedEvent } from "../event/Fingerprint.ts"
import { Memory, MemoryShares } from "../limit/MemoryBudget.ts"
import { RateLimiter } from "../limit/RateLimiter.ts"
import type { IntakeRateLimit } from "../limit/RateLimiter.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import { countLimited, LimitedRequests } from "../limit/LimitedRequests.ts"
import { RefusedSignatures } from "../verification/RefusedSignatures.ts"
import { confirmationIn } from "../verification/SnsMessage.ts"
import { SnsService } from "../verification/SnsService.ts"
import type { EventVerdict } from "../verification/Verification.ts"
import { withoutToken } from "../verification/HiddenToken.ts"
import { answerByGet, answerByPost, type HandshakeAnswer, unsignedPing } from "../verification/Handshake.ts"
import {
  badSignature,
  countRefusal,
  handshakeIn,
  refusalBySender,
  refusalBySns,
  SECRETS_UNREADABLE,
} from "../verification/VerifyRequest.ts"
import { fieldsOf } from "./FieldsOf.ts"
import { IntakeError } from "./IntakeError.ts"
import type { IntakeResult, IntakeRequest } from "./IntakeRequest.ts"
import { firstOf, type Parsed, submissionParser, WEBHOOK } from "./PreparedSubmission.ts"

/** The most attempts to parse a submission whose source keeps changing; then the sender is asked to retry. */
const MAX_ATTEMPTS = 4

type Refused = IntakeError | StoreUnavailable

export class Intake extends Context.Service<
  Intake,
  {
    /**
     * Whether a request from this IP address to this secret may proceed. Checks the rate of the client (null: the client
     * has no address and is not counted), then the source, then the rate of the source. The body need not have been read
     * yet.
     */
    readonly admit: (secret: string, ip: string | null, call: Call) => Promise<Result.Result<IntakeSource, Refused>>
    /**
     * Finds the source of this address for a sender that checks the address before it sends. Counts like `admit`, and
     * never uses the cache, since no append proves afterwards that the source still exists.
     */
    readonly look: (secret: string, ip: string | null, call: Call) => Promise<Result.Result<IntakeSource, Refused>>
    /**
     * Verifies and parses an admitted submission and appends its events. Returns after the commit. A provider's
     * challenge gets a response instead.
     */
    readonly receive: (request: IntakeRequest) => Promise<Result.Result<IntakeResult, Refused>>
    /**
     * The response to a GET of this address with this query, if it is a challenge that the source answers. Counts
     * against the rates. Null for any other request, whether the address exists or not.
     */
    readonly answerChallenge: (request: ChallengeRequest) => Promise<Result.Result<HandshakeAnswer | null, Refused>>
    /**
     * Accepts one event from a program that knows the source: no secret, no rate limit and no original request, but the
     * same detection of repeats and the same row. Values are read as JSON.stringify writes them; bigints keep all their
     * digits.
     */
    readonly accept: (sourceId: number, fields: Readonly<Record<string, unknown>>) => Effect.Effect<Receipt, Refused>
  }
>()("@data-cabinet/core/intake/Intake") {
  static readonly layer = Layer.effect(
    Intake,
    Effect.gen(function* () {
      const wheel = yield* timerWheel
      const intake = new IntakeSteps({
        sources: yield* Sources,
        limiter: yield* RateLimiter,
        log: yield* EventLog,
        refused: yield* RefusedSignatures,
        limited: yield* LimitedRequests,
        sns: yield* SnsService,
        clock: yield* Clock.Clock,
        wheel,
        parse: submissionParser(new MemoryShares(yield* Memory), wheel),
      })
      return {
        admit: (secret, ip, call) => intake.admit(secret, ip, call),
        look: (secret, ip, call) => intake.look(secret, ip, call),
        receive: (request) => intake.receive(request),
        answerChallenge: (request) => intake.answerChallenge(request),
        accept: (sourceId, fields) => intake.accept(sourceId, fields),
      }
    }),
  )
}

/** A GET request of an intake address, which may be a provider's challenge. */
export interface ChallengeRequest extends Call {
  readonly secret: string
  readonly ip: string | null
  /** The URL's query string without `?`. */
  readonly query: string
}

interface Ports {
  readonly sources: Sources["Service"]
  readonly limiter: RateLimiter["Service"]
  readonly log: EventLog["Service"]
  readonly refused: RefusedSignatures["Service"]
  readonly limited: LimitedRequests["Service"]
  readonly sns: SnsService["Service"]
  readonly clock: Clock.Clock
  readonly wheel: TimerWheel
  readonly parse: ReturnType<typeof submissionParser>
}

interface Verified {
  readonly source: IntakeSource
  readonly verdict: EventVerdict | undefined
}

interface Judged extends Verified {
  readonly answer: HandshakeAnswer | null
}

/** The steps of a request. They hold no state: everything known about a request is in the request. */
class IntakeSteps {
  readonly #ports: Ports

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /**
   * A cached source costs one call to the store. An unknown secret is counted against its client before the source is
   * looked up.
   */
  async admit(secret: string, ip: string | null, call: Call): Promise<Result.Result<IntakeSource, Refused>> {
    const { sources, limiter } = this.#ports
    const { deadline, context } = call
    const known = sources.cached(secret)
    if (known !== undefined) {
      const refused = this.#refusalOf(await limiter.intake(ip, known.id, deadline, known.rate), known.id, context)
      return refused === undefined ? Result.succeed(known) : Result.fail(refused)
    }
    const client = ip === null ? undefined : this.#refusalOf(await limiter.intake(ip, null, deadline), null, context)
    if (client !== undefined) return Result.fail(client)
    const found = await this.#findSource(secret, call)
    if (Result.isFailure(found)) return found
    const { id, rate } = found.success
    const refused = this.#refusalOf(await limiter.intake(null, id, deadline, rate), id, context)
    return refused === undefined ? found : Result.fail(refused)
  }

  /** Why a request may not proceed; undefined if it may. `sourceId` is null while the source is unknown. */
  #refusalOf(
    counted: Result.Result<IntakeRateLimit, StoreUnavailable>,
    sourceId: number | null,
    context: Call["context"],
  ): Refused | undefined {
    if (Result.isFailure(counted)) return counted.failure
    const { allowed, subject } = counted.success
    if (allowed) return undefined
    if (sourceId !== null) this.#ports.limited.count(sourceId)
    countLimited(subject, context)
    return overRate(counted.success)
  }

  async look(secret: string, ip: string | null, call: Call): Promise<Result.Result<IntakeSource, Refused>> {
    const admitted = await this.admit(secret, ip, call)
    return Result.isFailure(admitted) ? admitted : this.#findSource(secret, call)
  }

  async receive(request: IntakeRequest): Promise<Result.Result<IntakeResult, Refused>> {
    let { source } = request
    // A cached source may be outdated. Accepting proves that it is not; a challenge is never accepted.
    let isCurrent = false
    for (let attempt = 1; ; attempt++) {
      const judged = await this.#judge(request, source)
      if (Result.isFailure(judged)) return Result.fail(judged.failure)
      const { verdict, answer } = judged.success
      ;({ source } = judged.success)
      if (answer !== null) {
        if (isCurrent) return Result.map(await this.#confirm(request, source), () => ({ kind: "handshake", answer }))
        const found = await this.#findSource(request.secret, request)
        if (Result.isFailure(found)) return Result.fail(found.failure)
        source = found.success
        isCurrent = true
        continue
      }
      const parsed = await this.#parse(request, source, verdict)
      if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
      const appended = await this.#append(parsed.success.request, request)
      if (Result.isSuccess(appended)) return Result.succeed(parsed.success.resultOf(appended.success))
      if (appended.failure._tag !== "SourceChanged") return Result.fail(appended.failure)
      if (attempt === MAX_ATTEMPTS) return Result.fail(sourceKeepsChanging())
      const found = await this.#findSource(request.secret, request)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      source = found.success
      isCurrent = true
    }
  }

  /** Verifies the request, and responds to it if this source's settings make it a challenge. */
  async #judge(request: IntakeRequest, source: IntakeSource): Promise<Result.Result<Judged, Refused>> {
    if (source.challenge !== undefined) {
      const answer = answerByPost(source.challenge.provider, request.query, request.body)
      if (answer !== null) return Result.succeed({ source, verdict: undefined, answer })
    }
    if (source.verification === null) return Result.succeed({ source, verdict: undefined, answer: null })
    return Result.map(await this.#verify(request, source), (verified) => ({
      ...verified,
      answer: this.#handshake(request, verified.source, verified.verdict),
    }))
  }

  async answerChallenge({
    secret,
    ip,
    query,
    ...call
  }: ChallengeRequest): Promise<Result.Result<HandshakeAnswer | null, Refused>> {
    const found = await this.look(secret, ip, call)
    if (Result.isFailure(found)) {
      const { failure } = found
      return failure._tag === "IntakeError" && failure.code === "not_found"
        ? Result.succeed(null)
        : Result.fail(failure)
    }
    const { challenge } = found.success
    if (challenge === undefined) return Result.succeed(null)
    if (challenge.secret === null) return Result.fail(SECRETS_UNREADABLE)
    return Result.succeed(answerByGet(challenge.provider, challenge.secret, query))
  }

  accept(sourceId: number, fields: Readonly<Record<string, unknown>>): Effect.Effect<Receipt, Refused> {
    return Effect.gen({ self: this }, function* () {
      const { sources, log } = this.#ports
      const payload = yield* fieldsOf(fields)
      const events = [fingerprintedEvent(payload)]
      for (let attempt = 1; ; attempt++) {
        const source = yield* sources.forIntake(sourceId)
        if (Option.isNone(source)) return yield* notFound()
        const { id, version, filtered } = source.value
        const request: AcceptRequest = {
          ...WEBHOOK,
          sourceId: id,
          sourceVersion: version,
          events,
          original: null,
          ...filteredDeliveries(filtered, events),
        }
        const appended = yield* Effect.result(instrument("intake.accept", appendEvents(log, request)))
        if (Result.isSuccess(appended)) return firstOf(appended.success)
        if (appended.failure._tag !== "SourceChanged") return yield* appended.failure
        if (attempt === MAX_ATTEMPTS) return yield* sourceKeepsChanging()
      }
    })
  }

  /** Returns the verdict and the source for which it holds; no verdict if that source no longer requires one. */
  async #verify(request: IntakeRequest, source: IntakeSource): Promise<Result.Result<Verified, Refused>> {
    const { refused, clock } = this.#ports
    let current = source
    for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
      const { verification } = current
      if (verification === null || unsignedPing(verification, request) !== null) {
        return Result.succeed({ source: current, verdict: undefined })
      }
      const { recipe, mode } = verification
      const now = clock.currentTimeMillisUnsafe()
      const refusal =
        recipe === "sns"
          ? await this.#within(request, refusalBySns(verification, request, this.#ports.sns, now))
          : refusalBySender(verification, request, now)
      if (Result.isSuccess(refusal) && refusal.success === null) {
        return Result.succeed({ source: current, verdict: { recipe, refusal: null } })
      }
      // The cached source may be outdated, and a genuine request with a new secret must not be lost.
      const found = await this.#findSource(request.secret, request)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      if (found.success.version !== current.version) {
        current = found.success
        continue
      }
      if (Result.isFailure(refusal)) return Result.fail(refusal.failure)
      const reason = refusal.success!
      if (mode === "mark") return Result.succeed({ source: current, verdict: { recipe, refusal: reason } })
      refused.count(current.id, reason)
      countRefusal(reason, request.context)
      return Result.fail(badSignature(reason))
    }
    return Result.fail(sourceKeepsChanging())
  }

  /** Confirms the subscription if a verified message requests that. */
  async #confirm(request: IntakeRequest, { verification }: IntakeSource): Promise<Result.Result<void, Refused>> {
    const address = verification?.recipe === "sns" ? confirmationIn(request.body) : null
    return address === null ? Result.succeed(undefined) : this.#within(request, this.#ports.sns.confirm(address))
  }

  #within<A>({ deadline, context }: Call, work: Effect.Effect<A, StoreUnavailable>) {
    const timed = Effect.timeoutOrElse(work, {
      duration: deadline - this.#ports.wheel.now(),
      orElse: () => Effect.fail(snsTooLate()),
    })
    return runResult(timed, context)
  }

  /** Answers a challenge that is verified, or a ping that is never signed. Neither is an event. */
  #handshake(request: IntakeRequest, { verification }: IntakeSource, verdict: EventVerdict | undefined) {
    if (verification === null) return null
    if (verdict === undefined) return unsignedPing(verification, request)
    if (verdict.refusal !== null) return null
    return handshakeIn(verification, request, this.#ports.clock.currentTimeMillisUnsafe())
  }

  async #parse(request: IntakeRequest, source: IntakeSource, verdict: EventVerdict | undefined): Promise<Parsed> {
    const step = beginStep("intake.parse", request.context)
    try {
      const parsed = await this.#ports.parse(withoutToken(source.verification, request), source, verdict)
      step.end(parsed)
      return parsed
    } catch (fault) {
      step.fault(fault)
      throw fault
    }
  }

  async #append(events: AcceptRequest, request: IntakeRequest): Promise<Appended> {
    const step = beginStep("intake.accept", request.context)
    try {
      const appended = await this.#ports.log.append(events, request.deadline)
      step.end(appended)
      return appended
    } catch (fault) {
      step.fault(fault)
      throw fault
    }
  }

  async #findSource(secret: string, { deadline, context }: Call): Promise<Result.Result<IntakeSource, Refused>> {
    const { sources, wheel } = this.#ports
    const find = Effect.timeoutOrElse(sources.bySecret(secret), {
      duration: deadline - wheel.now(),
      orElse: () => Effect.fail(storeTimedOut(false)),
    })
    const found = await runResult(find, context)
    return Result.isFailure(found) ? Result.fail(found.failure) : Result.fromOption(found.success, notFound)
  }
}

const overRate = ({ limit, subject, retryAfter }: IntakeRateLimit) =>
  new IntakeError({
    code: "rate_limited",
    message: `More than ${limit} requests a minute for one ${subject === "client" ? "address" : "source"}: retry in ${retryAfter} s`,
    retryAfter,
  })

const notFound = () => new IntakeError({ code: "not_found", message: "This address does not accept data" })

const snsTooLate = () =>
  new StoreUnavailable({ message: "Amazon SNS did not respond in time", retryAfter: 20, outcomeUnknown: false })

const sourceKeepsChanging = () =>
  new StoreUnavailable({
    message: "The source is being modified; nothing was saved, send it again",
    retryAfter: 1,
    outcomeUnknown: false,
  })

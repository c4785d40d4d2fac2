/** The steps of a request at intake: its source, its rates, its sender, its events. */
import { randomBytes } from "node:crypto"
import { Effect, Option, Result } from "effect"
import { beginStep, instrument } from "../runtime/Instrument.ts"
import { markedBy } from "../schema/MarkEvents.ts"
import { filteredDeliveries } from "../delivery/FilteredDeliveries.ts"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { appendEvents, type EventLog, type AcceptRequest, type Appended, type Receipt } from "../event/EventLog.ts"
import { fingerprintedEvent } from "../event/Fingerprint.ts"
import type { RateLimiter, IntakeRateLimit } from "../limit/RateLimiter.ts"
import type { IntakeSource } from "../source/Source.ts"
import { countLimited, type LimitedRequests } from "../limit/LimitedRequests.ts"
import type { EventVerdict } from "../verification/Verification.ts"
import { withoutToken } from "../verification/HiddenToken.ts"
import { answerByGet, type HandshakeAnswer } from "../verification/Handshake.ts"
import { SECRETS_UNREADABLE } from "../verification/VerifyRequest.ts"
import { type AltchaChallenge, altchaChallenge, CHALLENGE_RANDOM_BYTES } from "../proof/AltchaProof.ts"
import { fieldsOf } from "./FieldsOf.ts"
import type { IntakeResult, IntakeRequest } from "./IntakeRequest.ts"
import { firstOf, type Parsed, type submissionParser, WEBHOOK } from "./PreparedSubmission.ts"
import { type ProofPorts, RequestProof } from "./RequestProof.ts"
import { findSource, MAX_ATTEMPTS, type SenderPorts, SenderSteps } from "./SenderSteps.ts"
import { notFound, overRate, type Refused, sourceKeepsChanging } from "./IntakeRefusals.ts"
import type { Call } from "../runtime/AbortableCall.ts"

/** A GET request of an intake address, which may be a provider's challenge. */
export interface ChallengeRequest extends Call {
  readonly secret: string
  readonly ip: string | null
  /** The URL's query string without `?`. */
  readonly query: string
}

interface Ports extends SenderPorts, ProofPorts {
  readonly limiter: RateLimiter["Service"]
  readonly log: EventLog["Service"]
  readonly limited: LimitedRequests["Service"]
  readonly parse: ReturnType<typeof submissionParser>
}

/** The steps of a request. They hold no state: everything known about a request is in the request. */
export class IntakeSteps {
  readonly #ports: Ports
  readonly #sender: SenderSteps

  constructor(ports: Ports) {
    this.#ports = ports
    this.#sender = new SenderSteps(ports)
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
    const found = await findSource(this.#ports, secret, call)
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
    return Result.isFailure(admitted) ? admitted : findSource(this.#ports, secret, call)
  }

  async receive(request: IntakeRequest): Promise<Result.Result<IntakeResult, Refused>> {
    let { source } = request
    // A cached source may be outdated. Accepting proves that it is not; a challenge is never accepted.
    let isCurrent = false
    let proof: RequestProof | undefined
    for (let attempt = 1; ; attempt++) {
      const judged = await this.#sender.judge(request, source)
      if (Result.isFailure(judged)) return Result.fail(judged.failure)
      const { verdict, answer } = judged.success
      ;({ source } = judged.success)
      if (answer !== null) {
        if (isCurrent)
          return Result.map(await this.#sender.confirm(request, source), () => ({ kind: "handshake", answer }))
        const found = await findSource(this.#ports, request.secret, request)
        if (Result.isFailure(found)) return Result.fail(found.failure)
        source = found.success
        isCurrent = true
        continue
      }
      const parsed = await this.#parse(request, source, verdict)
      if (Result.isFailure(parsed)) return Result.fail(parsed.failure)
      const accepted =
        source.proof === undefined
          ? parsed.success.request
          : await (proof ??= new RequestProof(this.#ports, request)).judge(parsed.success, source.proof)
      const appended = await this.#append(accepted, request)
      if (Result.isSuccess(appended)) return Result.succeed(parsed.success.resultOf(appended.success))
      if (appended.failure._tag !== "SourceChanged") return Result.fail(appended.failure)
      if (attempt === MAX_ATTEMPTS) return Result.fail(sourceKeepsChanging())
      const found = await findSource(this.#ports, request.secret, request)
      if (Result.isFailure(found)) return Result.fail(found.failure)
      if (accepted.proof !== undefined && found.success.version === source.version) proof?.markUsed(accepted.proof)
      source = found.success
      isCurrent = true
    }
  }

  /** A cached source costs nothing but the challenge: neither a call to the store nor a place in the rates. */
  async formChallenge(
    secret: string,
    ip: string | null,
    call: Call,
  ): Promise<Result.Result<AltchaChallenge | null, Refused>> {
    const known = this.#ports.sources.cached(secret)
    const found = known?.proof?.kind === "altcha" ? Result.succeed(known) : await this.look(secret, ip, call)
    if (Result.isFailure(found)) return Result.fail(found.failure)
    const { proof } = found.success
    if (proof?.kind !== "altcha") return Result.succeed(null)
    if (proof.secret === null) return Result.fail(SECRETS_UNREADABLE)
    const now = this.#ports.clock.currentTimeMillisUnsafe()
    return Result.succeed(altchaChallenge(proof.secret, now, randomBytes(CHALLENGE_RANDOM_BYTES)))
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
      const parsed = [fingerprintedEvent(payload)]
      for (let attempt = 1; ; attempt++) {
        const source = yield* sources.forIntake(sourceId)
        if (Option.isNone(source)) return yield* notFound()
        const { id, version, filtered, schema } = source.value
        const events = yield* Effect.promise(() => markedBy(schema, parsed))
        const request: AcceptRequest = {
          ...WEBHOOK,
          sourceId: id,
          sourceVersion: version,
          events,
          original: null,
          ...(yield* Effect.promise(() => filteredDeliveries(filtered, events))),
        }
        const appended = yield* Effect.result(instrument("intake.accept", appendEvents(log, request)))
        if (Result.isSuccess(appended)) return firstOf(appended.success)
        if (appended.failure._tag !== "SourceChanged") return yield* appended.failure
        if (attempt === MAX_ATTEMPTS) return yield* sourceKeepsChanging()
      }
    })
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
}

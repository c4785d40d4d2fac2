/**
 * The steps at intake that concern the sender: its challenges and pings, which are answered, and the verification of
 * everything else. A failure counts only against the current source, because a cached one may be outdated.
 */
import { type Clock, Effect, Result } from "effect"
import { runResult } from "../runtime/FromResult.ts"
import type { TimerWheel } from "../runtime/TimerWheel.ts"
import { type StoreUnavailable, storeTimedOut } from "../error/StoreUnavailable.ts"
import type { IntakeSource } from "../source/Source.ts"
import type { Sources } from "../source/Sources.ts"
import { confirmationIn } from "../verification/SnsMessage.ts"
import type { EventVerdict } from "../verification/Verification.ts"
import { answerByPost, type HandshakeAnswer, unsignedPing } from "../verification/Handshake.ts"
import { countRefusal, handshakeIn, refusalBySender, refusalBySns } from "../verification/VerifyRequest.ts"
import type { IntakeRequest } from "./IntakeRequest.ts"
import { badSignature, notFound, type Refused, snsTooLate, sourceKeepsChanging } from "./IntakeRefusals.ts"
import type { Call } from "../runtime/AbortableCall.ts"
import type { SnsService } from "../verification/VerifySns.ts"
import type { RefusedSignatures } from "../verification/VerifySender.ts"

/** The most attempts to parse a submission whose source keeps changing; then the sender is asked to retry. */
export const MAX_ATTEMPTS = 4

/** What the sender's steps use. */
export interface SenderPorts {
  readonly sources: Sources["Service"]
  readonly refused: RefusedSignatures["Service"]
  readonly sns: SnsService["Service"]
  readonly clock: Clock.Clock
  readonly wheel: TimerWheel
}

interface Verified {
  readonly source: IntakeSource
  readonly verdict: EventVerdict | undefined
}

interface Judged extends Verified {
  readonly answer: HandshakeAnswer | null
}

/** Finds the source of an intake address in the store. */
export const findSource = async (
  { sources, wheel }: Pick<SenderPorts, "sources" | "wheel">,
  secret: string,
  { deadline, context }: Call,
): Promise<Result.Result<IntakeSource, Refused>> => {
  const find = Effect.timeoutOrElse(sources.bySecret(secret), {
    duration: deadline - wheel.now(),
    orElse: () => Effect.fail(storeTimedOut(false)),
  })
  const found = await runResult(find, context)
  return Result.isFailure(found) ? Result.fail(found.failure) : Result.fromOption(found.success, notFound)
}

/** Like all steps of a request, these hold no state. */
export class SenderSteps {
  readonly #ports: SenderPorts

  constructor(ports: SenderPorts) {
    this.#ports = ports
  }

  /** Verifies the request, and responds to it if this source's settings make it a challenge. */
  async judge(request: IntakeRequest, source: IntakeSource): Promise<Result.Result<Judged, Refused>> {
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
      const found = await findSource(this.#ports, request.secret, request)
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
  async confirm(request: IntakeRequest, { verification }: IntakeSource): Promise<Result.Result<void, Refused>> {
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
}

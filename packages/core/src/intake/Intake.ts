/**
 * Intake: rate limits, verification of the sender, parsing, and appending to the event log. Every body within the
 * limits that comes from an admitted client and passes its source's verification becomes an event, whether it parses or
 * not. A source may also accept unverified requests, and mark them. A refusal comes before anything is stored.
 */
import { Clock, Context, Effect, Layer, type Result } from "effect"
import { timerWheel } from "../runtime/TimerWheel.ts"
import { EventLog, type Receipt } from "../event/EventLog.ts"
import { Memory, MemoryShares } from "../limit/MemoryBudget.ts"
import { RateLimiter } from "../limit/RateLimiter.ts"
import type { IntakeSource } from "../source/Source.ts"
import { Sources } from "../source/Sources.ts"
import type { AltchaChallenge } from "../proof/AltchaProof.ts"
import { ProofProviders } from "../proof/ProofProviders.ts"
import { LimitedRequests } from "../limit/LimitedRequests.ts"
import type { HandshakeAnswer } from "../verification/Handshake.ts"
import type { IntakeResult, IntakeRequest } from "./IntakeRequest.ts"
import { submissionParser } from "./PreparedSubmission.ts"
import type { Refused } from "./IntakeRefusals.ts"
import { type ChallengeRequest, IntakeSteps } from "./IntakeSteps.ts"
import type { Call } from "../runtime/AbortableCall.ts"
import { SnsService } from "../verification/VerifySns.ts"
import { RefusedSignatures } from "../verification/VerifySender.ts"

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
     * A new ALTCHA challenge for the form of this address; null if its source demands no such proof. Reads the store only if
     * this process does not know the source.
     */
    readonly formChallenge: (
      secret: string,
      ip: string | null,
      call: Call,
    ) => Promise<Result.Result<AltchaChallenge | null, Refused>>
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
        providers: yield* ProofProviders,
        clock: yield* Clock.Clock,
        wheel,
        parse: submissionParser(new MemoryShares(yield* Memory), wheel),
      })
      return {
        admit: (secret, ip, call) => intake.admit(secret, ip, call),
        look: (secret, ip, call) => intake.look(secret, ip, call),
        receive: (request) => intake.receive(request),
        answerChallenge: (request) => intake.answerChallenge(request),
        formChallenge: (secret, ip, call) => intake.formChallenge(secret, ip, call),
        accept: (sourceId, fields) => intake.accept(sourceId, fields),
      }
    }),
  )
}

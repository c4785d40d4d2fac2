/**
 * Decides by the proof of a person that came with a request whether its event is spam. A provider checks it once for a request,
 * however often the request is parsed again.
 *
 * Decision: docs/decisions/0102-a-proof-of-a-person-marks-and-never-refuses.md
 */
import type { Clock } from "effect"
import { Result } from "effect"
import type { AcceptRequest, SpamReason } from "../event/EventLog.ts"
import type { Json } from "../json/Json.ts"
import { type AltchaProof, checkAltcha } from "../proof/AltchaProof.ts"
import type { IntakeProof } from "../proof/FormProof.ts"
import {
  MAX_TOKEN_LENGTH,
  type ProofProviders,
  PROVIDER_MILLIS,
  type ProviderAnswer,
  type ProviderToken,
} from "../proof/ProofProviders.ts"
import type { Call } from "../runtime/AbortableCall.ts"
import { runResult } from "../runtime/FromResult.ts"
import type { TimerWheel } from "../runtime/TimerWheel.ts"

/** What checking a proof uses. */
export interface ProofPorts {
  readonly providers: ProofProviders["Service"]
  readonly clock: Clock.Clock
  readonly wheel: TimerWheel
}

/** A request whose events may lack a proof. */
interface Unproven {
  readonly request: AcceptRequest
  /** The field with the proof; absent without it, and if the request has several events. */
  readonly proof?: Json | undefined
}

const REASONS = { valid: null, wrong: "wrong_proof", unchecked: "unchecked_proof" } as const satisfies Record<
  ProviderAnswer,
  SpamReason | null
>

/** The proof of one request. */
export class RequestProof {
  readonly #ports: ProofPorts
  readonly #call: Call
  #known: { readonly of: ProviderToken; readonly answer: ProviderAnswer } | undefined
  #used: string | undefined

  constructor(ports: ProofPorts, call: Call) {
    this.#ports = ports
    this.#call = call
  }

  /** The store has found that another event came with this proof. */
  markUsed({ id }: AltchaProof): void {
    this.#used = id
  }

  /** The request with its proof to be stored, or with its events marked. Spam by other rules is not checked. */
  async judge({ request, proof }: Unproven, setting: IntakeProof): Promise<AcceptRequest> {
    if (request.events.every(({ spam }) => spam !== undefined)) return request
    if (request.events.length !== 1 || proof === undefined || proof === null || proof === "") {
      return marked(request, "no_proof")
    }
    if (typeof proof !== "string") return marked(request, "wrong_proof")
    const { kind, siteKey, secret } = setting
    if (secret === null) return marked(request, "unchecked_proof")
    if (kind !== "altcha") {
      const reason = REASONS[await this.#answerOf({ kind, siteKey, secret, token: proof })]
      return reason === null ? request : marked(request, reason)
    }
    const checked = checkAltcha(proof, secret, this.#ports.clock.currentTimeMillisUnsafe())
    if (Result.isFailure(checked)) return marked(request, "wrong_proof")
    return checked.success.id === this.#used ? marked(request, "used_proof") : { ...request, proof: checked.success }
  }

  /** A provider accepts a token once, so the answer to the same question is kept. */
  async #answerOf(token: ProviderToken): Promise<ProviderAnswer> {
    if (token.token.length > MAX_TOKEN_LENGTH) return "wrong"
    const before = this.#known
    if (before !== undefined && isSame(before.of, token)) return before.answer
    const { providers, wheel } = this.#ports
    const millis = Math.min(PROVIDER_MILLIS, this.#call.deadline - wheel.now())
    const checked = await runResult(providers.check(token, Math.max(1, millis)), this.#call.context)
    const answer = Result.getOrElse(checked, () => "unchecked" as const)
    this.#known = { of: token, answer }
    return answer
  }
}

const isSame = (a: ProviderToken, b: ProviderToken): boolean =>
  a.kind === b.kind && a.token === b.token && a.secret === b.secret && a.siteKey === b.siteKey

const marked = (request: AcceptRequest, reason: SpamReason): AcceptRequest => ({
  ...request,
  events: request.events.map((event) =>
    event.spam === undefined ? { ...event, fingerprint: null, spam: reason } : event,
  ),
})

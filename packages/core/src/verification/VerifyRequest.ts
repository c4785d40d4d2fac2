/**
 * Decides whether a request of intake comes from its source's sender, and words the refusal.
 *
 * Decision: docs/decisions/0066-marked-senders.md
 */
import { type Context, Effect, Metric, Result } from "effect"
import { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type HandshakeAnswer, signedHandshake } from "./Handshake.ts"
import type { RequestHeaders } from "./RequestFields.ts"
import { type IntakeVerification, recipeOf } from "./Verification.ts"
import { type RefusalReason, type SignedRequest, verifySender } from "./VerifySender.ts"
import { verifySns, type SnsService } from "./VerifySns.ts"

/** The parts of a request to intake that are verified. */
export interface ReceivedRequest {
  readonly headers: RequestHeaders
  readonly body: Uint8Array
  /** Other bytes that the sender may have signed instead of the body. */
  readonly received?: Uint8Array
  readonly query: string
  /** The secret part of the intake address. */
  readonly secret: string
  readonly baseUrl: string
  readonly sender: { readonly ip: string | null }
}

/**
 * Why the sender is not verified; null if it is. Fails if this process cannot use the secrets: such a request is not a
 * forgery, and its sender retries.
 */
export const refusalBySender = (
  verification: IntakeVerification,
  request: ReceivedRequest,
  nowMillis: number,
): Result.Result<RefusalReason | null, StoreUnavailable> => {
  const { secrets } = verification
  if (secrets === null) return Result.fail(SECRETS_UNREADABLE)
  const recipe = recipeOf(verification)
  if (recipe.kind === "sns") throw new Error("The recipe sns is verified by its certificates")
  const { received, ...decoded } = request
  const check = (signed: ReceivedRequest) =>
    verifySender(recipe, signedRequest(signed), { secrets, now: secondsOf(nowMillis) })
  const verdict = check(decoded)
  if (verdict.verified) return Result.succeed(null)
  const isSigned = received !== undefined && check({ ...decoded, body: received }).verified
  return Result.succeed(isSigned ? null : verdict.reason)
}

/** The same for the recipe `sns`, whose certificate may have to be fetched. */
export const refusalBySns = (
  { secrets }: IntakeVerification,
  { body, sender }: ReceivedRequest,
  sns: SnsService["Service"],
  nowMillis: number,
): Effect.Effect<RefusalReason | null, StoreUnavailable> =>
  secrets === null
    ? Effect.fail(SECRETS_UNREADABLE)
    : verifySns(body, { secrets, now: secondsOf(nowMillis), from: sender.ip }, sns)

/** The response to a verified request that is a provider's challenge; null for any other request. */
export const handshakeIn = (
  verification: IntakeVerification,
  request: ReceivedRequest,
  nowMillis: number,
): HandshakeAnswer | null => signedHandshake(verification, signedRequest(request), secondsOf(nowMillis))

const secondsOf = (millis: number): number => Math.floor(millis / 1000)

const signedRequest = ({ headers, body, baseUrl, secret, query }: ReceivedRequest): SignedRequest => ({
  headers,
  body,
  url: `${baseUrl}/webhook/${secret}${query === "" ? "" : `?${query}`}`,
})

/** The error if this process lacks the key that encrypts the secrets. */
export const SECRETS_UNREADABLE = new StoreUnavailable({
  message:
    "The secret that a source's requests are verified with cannot be decrypted: its key is not in CABINET_SECRET_KEY.",
  retryAfter: 60,
  outcomeUnknown: false,
})

/** The messages for senders. None of them helps anyone without a secret: the time is judged after the signature. */
const WORDS: Readonly<Record<RefusalReason, string>> = {
  no_signature: "This address takes signed requests alone, and this one has no signature",
  bad_signature: "The signature does not match; nothing was saved",
  old_timestamp: "The signature is too old, or its time is too far ahead; nothing was saved",
}

/** The message for a sender that is not verified. */
export const refusalMessage = (reason: RefusalReason): string => WORDS[reason]

const counter = (reason: RefusalReason) =>
  Metric.counter("intake_refused_signatures_total", {
    description: "Requests refused because their sender could not be verified, by reason.",
    incremental: true,
    attributes: { reason },
  })

const counters = {
  no_signature: counter("no_signature"),
  bad_signature: counter("bad_signature"),
  old_timestamp: counter("old_timestamp"),
} satisfies Record<RefusalReason, unknown>

/** Counts a refused request as a metric. */
export const countRefusal = (reason: RefusalReason, context: Context.Context<never>): void =>
  counters[reason].updateUnsafe(1, context)

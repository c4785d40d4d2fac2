/**
 * Decides whether a message comes from a topic of Amazon SNS that a source names.
 *
 * Decision: docs/decisions/0083-topics-of-amazon-sns.md
 */
import { type KeyObject, verify, X509Certificate } from "node:crypto"
import { Effect, Context } from "effect"
import type { StoreUnavailable } from "../error/StoreUnavailable.ts"
import { type SnsMessage, snsMessageIn } from "./SnsMessage.ts"
import { equalTexts, type RefusalReason, type VerifyingOptions } from "./VerifySender.ts"

/**
 * Fetches the certificates that Amazon SNS signs with, and confirms subscriptions.
 *
 * Both take only addresses of SNS, which the caller has checked (`SnsMessage`). `StoreUnavailable` means that SNS cannot be
 * reached now: the request is not a forgery, and its sender retries.
 */
export class SnsService extends Context.Service<
  SnsService,
  {
    /**
     * The certificate at this address, in PEM; null if the address has no certificate. `from`: the IP address of the client
     * that named it, or null; clients that name many wrong addresses wait for one another, and delay no one else.
     */
    readonly certificate: (address: URL, from: string | null) => Effect.Effect<string | null, StoreUnavailable>
    readonly confirm: (address: URL) => Effect.Effect<void, StoreUnavailable>
  }
>()("@data-cabinet/core/verification/SnsService") {}

/** SNS repeats a message for up to an hour, with the time of its first attempt. */
const TOLERANCE_SECONDS = 2 * 3600

/** Why the sender is not verified; null if it is. `secrets`: the names of the topics; `from`: the client's IP address. */
export const verifySns = (
  body: Uint8Array,
  { secrets, now, from }: VerifyingOptions & { readonly from: string | null },
  sns: SnsService["Service"],
): Effect.Effect<RefusalReason | null, StoreUnavailable> =>
  Effect.gen(function* () {
    const message = snsMessageIn(body)
    if (message === null) return "no_signature"
    // Before the certificate is fetched: only those who know the topic cause a request.
    if (message === "refused" || !secrets.some((topic) => equalTexts(topic, message.topic))) return "bad_signature"
    const pem = yield* sns.certificate(message.certificate, from)
    const key = pem === null ? null : keyIn(pem)
    if (key === null || !isSigned(message, key)) return "bad_signature"
    return Math.abs(now - message.publishedAt) <= TOLERANCE_SECONDS ? null : "old_timestamp"
  })

const isSigned = ({ algorithm, signedText, signature }: SnsMessage, key: KeyObject): boolean =>
  verify(algorithm, Buffer.from(signedText), key, signature)

/** Null unless it is a certificate of an RSA key. */
const keyIn = (pem: string): KeyObject | null => {
  try {
    const key = new X509Certificate(pem).publicKey
    return key.asymmetricKeyType === "rsa" ? key : null
  } catch {
    return null
  }
}

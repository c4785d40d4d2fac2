/**
 * Asks Cloudflare Turnstile and hCaptcha about tokens, by the only client for outgoing requests. The visitor's IP address is not
 * passed on: the widget has met the visitor already.
 */
import { USER_AGENT } from "@data-cabinet/core/delivery/Courier"
import { type ProviderAnswer, ProofProviders, type ProviderToken } from "@data-cabinet/core/proof/ProofProviders"
import { Context, Effect, Layer } from "effect"
import { PinnedClient } from "../outgoing/PinnedClient.ts"

const MAX_BYTES = 16_384

/** Where the providers check tokens. Only tests provide others; no setting does. */
export const ProviderAddresses = Context.Reference<{ readonly [K in ProviderToken["kind"]]: string }>(
  "@data-cabinet/delivery/proof/ProviderAddresses",
  {
    defaultValue: () => ({
      turnstile: "https://challenges.cloudflare.com/turnstile/v0/siteverify",
      hcaptcha: "https://api.hcaptcha.com/siteverify",
    }),
  },
)

export const layer = Layer.effect(
  ProofProviders,
  Effect.gen(function* () {
    const client = yield* PinnedClient
    const addresses = yield* ProviderAddresses
    return {
      check: (token: ProviderToken, millis: number): Effect.Effect<ProviderAnswer> =>
        client
          .send({
            method: "POST",
            url: new URL(addresses[token.kind]),
            headers: { "User-Agent": USER_AGENT, "Content-Type": "application/x-www-form-urlencoded" },
            body: Buffer.from(questionOf(token)),
            deadlineMillis: millis,
            bodyMillis: millis,
            readBytes: MAX_BYTES,
            keepBytes: MAX_BYTES,
          })
          .pipe(
            Effect.timeoutOrElse({ duration: millis, orElse: () => Effect.succeed(null) }),
            Effect.map((response) => (response === null ? "unchecked" : answerIn(response.body))),
            Effect.catchTag("OutgoingError", () => Effect.succeed("unchecked" as const)),
            Effect.tap((answer) => (answer === "unchecked" ? unchecked(token.kind) : Effect.void)),
          ),
    }
  }),
)

/** Turnstile knows the site key by the secret; hCaptcha compares it. */
const questionOf = ({ kind, secret, siteKey, token }: ProviderToken): string =>
  new URLSearchParams({
    secret,
    response: token,
    ...(kind === "hcaptcha" && siteKey !== null ? { sitekey: siteKey } : {}),
  }).toString()

/** What both providers say of a token that proves nothing. Any other code is about the setting, or about the provider. */
const WRONG: ReadonlySet<unknown> = new Set([
  "missing-input-response",
  "invalid-input-response",
  "timeout-or-duplicate",
  "expired-input-response",
  "already-seen-response",
  "invalid-or-already-seen-response",
])

const answerIn = (body: Uint8Array): ProviderAnswer => {
  const answer = parsed(Buffer.from(body).toString("utf8"))
  if (typeof answer !== "object" || answer === null || !("success" in answer)) return "unchecked"
  if (answer.success === true) return "valid"
  const codes: unknown = "error-codes" in answer ? answer["error-codes"] : []
  return answer.success === false && Array.isArray(codes) && codes.length > 0 && codes.every((code) => WRONG.has(code))
    ? "wrong"
    : "unchecked"
}

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

const unchecked = (kind: ProviderToken["kind"]) =>
  Effect.logWarning(`${kind} did not check a form's proof: the event is kept as spam (unchecked_proof)`)

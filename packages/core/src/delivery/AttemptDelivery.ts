/**
 * One attempt: builds and signs the body, sends it, and determines the next state of the delivery. It neither claims nor
 * settles.
 */
import { Context, Effect, Layer } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import type { Outcome } from "./Attempt.ts"
import { Courier } from "./Courier.ts"
import type { Claimed, NextState, Recipient, Settlement } from "./DeliveryQueue.ts"
import { type Letter, type Parcel, writeLetter } from "./Letter.ts"
import { retryAfterSeconds } from "./RetrySchedule.ts"
import { requestHeaders } from "./SignedRequest.ts"
import { agentHeaders } from "./Signature.ts"

/**
 * Any 2xx counts as delivered. Anything else is retried, including a redirect or a missing response. A ping is not
 * retried.
 */
export const nextState = (delivery: Pick<Claimed, "type" | "failures">, outcome: Outcome): NextState => {
  if (outcome.status !== null && outcome.status >= 200 && outcome.status <= 299) return { state: "delivered" }
  if (delivery.type === "ping") return { state: "failed" }
  return { state: "retry", afterSeconds: retryAfterSeconds(delivery.failures + 1) }
}

const notSent = (failure: string): Outcome => ({
  status: null,
  failure: `not sent: ${failure}`,
  peer: null,
  durationMs: 0,
  timing: null,
  responseBody: null,
})

const undecryptable = (what: string) => notSent(`${what} cannot be decrypted with CABINET_SECRET_KEY`)

/** An unsigned delivery could come from anyone, so it is not sent; another process may have the key. */
const NO_SECRET = undecryptable("the signing secret")
const NO_HEADERS = undecryptable("a header of the address")
const NO_CLIENT_KEY = undecryptable("the key of the client certificate")

/** A message to the subscription of an agent. */
export interface AgentMessage {
  /** The same for each attempt, so that the agent processes it once. */
  readonly id: string
  readonly subscription: string
  readonly body: Uint8Array
}

export class AttemptDelivery extends Context.Service<
  AttemptDelivery,
  {
    readonly attempt: (delivery: Claimed) => Effect.Effect<Settlement>
    /** Writes, signs and sends a request, once. */
    readonly send: (recipient: Recipient, parcel: Parcel) => Effect.Effect<Outcome>
    /** Signs and sends a message to an agent, once. */
    readonly notify: (recipient: Pick<Recipient, "url" | "secrets">, message: AgentMessage) => Effect.Effect<Outcome>
  }
>()("@data-cabinet/core/delivery/AttemptDelivery") {
  static readonly layer = Layer.effect(
    AttemptDelivery,
    Effect.gen(function* () {
      const courier = yield* Courier
      const send = (recipient: Recipient, parcel: Parcel): Effect.Effect<Outcome> =>
        Effect.clockWith((clock) => {
          const { secrets, headers = [], timeoutSeconds = null, identity } = recipient
          if (secrets.length === 0) return Effect.succeed(NO_SECRET)
          if (headers === null) return Effect.succeed(NO_HEADERS)
          if (identity === null) return Effect.succeed(NO_CLIENT_KEY)
          const post = (letter: Letter): Effect.Effect<Outcome> => {
            const seconds = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
            const sent = courier.send({
              method: letter.method,
              url: recipient.url,
              ...(timeoutSeconds === null ? {} : { timeoutMillis: timeoutSeconds * 1000 }),
              ...(identity === undefined ? {} : { identity }),
              headers: requestHeaders(letter, headers, secrets, seconds),
              body: letter.body,
            })
            return instrument("delivery.attempt", sent)
          }
          const letter = writeLetter(recipient, parcel)
          if (!Effect.isEffect(letter)) return post(letter)
          return Effect.matchEffect(letter, { onFailure: (why) => Effect.succeed(notSent(why)), onSuccess: post })
        })
      return AttemptDelivery.of({
        send,
        notify: ({ url, secrets }, { id, subscription, body }) =>
          Effect.clockWith((clock) => {
            if (secrets.length === 0) return Effect.succeed(NO_SECRET)
            const seconds = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
            const headers = agentHeaders({ id, subscription, secrets, body, seconds })
            return instrument("delivery.attempt", courier.send({ method: "POST", url, headers, body }))
          }),
        attempt: (delivery) =>
          Effect.map(send(delivery.recipient, { items: [delivery], isBatch: false }), (outcome): Settlement => {
            const next = nextState(delivery, outcome)
            return { deliveryId: delivery.id, attempt: delivery.attempt, outcome, next }
          }),
      })
    }),
  )
}

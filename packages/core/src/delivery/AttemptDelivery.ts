/**
 * One attempt: builds and signs the body, sends it, and determines the next state of the delivery. It neither claims nor
 * settles.
 */
import { Context, Effect, Layer } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import type { DeliveryType, Outcome } from "./Attempt.ts"
import { Courier, USER_AGENT } from "./Courier.ts"
import { deliveryBody } from "./DeliveryBody.ts"
import type { Claimed, Settlement, NextState } from "./DeliveryQueue.ts"
import type { Recipient } from "./OrderedQueue.ts"
import { retryAfterSeconds } from "./RetrySchedule.ts"
import { signDelivery, standardHeaders } from "./Signature.ts"

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
  failure: `not sent: ${failure} cannot be decrypted with CABINET_SECRET_KEY`,
  peer: null,
  durationMs: 0,
  responseBody: null,
})

/** An unsigned delivery could be anyone's, so it is not sent; another process may have the key. */
const NO_SECRET = notSent("the signing secret")
const NO_HEADERS = notSent("a header of the address")
const NO_CLIENT_KEY = notSent("the key of the client certificate")

/** A body to sign and send. */
export interface Letter {
  readonly id: number
  readonly type: DeliveryType | "events.received"
  readonly body: Uint8Array
}

export class AttemptDelivery extends Context.Service<
  AttemptDelivery,
  {
    readonly attempt: (delivery: Claimed) => Effect.Effect<Settlement>
    /** Signs and sends a body, once. */
    readonly send: (recipient: Recipient, letter: () => Letter) => Effect.Effect<Outcome>
  }
>()("@data-cabinet/core/delivery/AttemptDelivery") {
  static readonly layer = Layer.effect(
    AttemptDelivery,
    Effect.gen(function* () {
      const courier = yield* Courier
      const send = (recipient: Recipient, letter: () => Letter): Effect.Effect<Outcome> =>
        Effect.clockWith((clock) => {
          const { secrets, headers = [], timeoutSeconds = null, identity } = recipient
          if (secrets.length === 0) return Effect.succeed(NO_SECRET)
          if (headers === null) return Effect.succeed(NO_HEADERS)
          if (identity === null) return Effect.succeed(NO_CLIENT_KEY)
          const { id, type, body } = letter()
          const t = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
          const sent = courier.send({
            url: recipient.url,
            ...(timeoutSeconds === null ? {} : { timeoutMillis: timeoutSeconds * 1000 }),
            ...(identity === undefined ? {} : { identity }),
            headers: {
              ...(headers.length === 0 ? {} : Object.fromEntries(headers)),
              "Content-Type": "application/json",
              "User-Agent": USER_AGENT,
              "X-Service-Event": type,
              "X-Service-Delivery": String(id),
              "X-Service-Signature": signDelivery(body, secrets, t),
              ...standardHeaders(id, body, secrets, t),
            },
            body,
          })
          return instrument("delivery.attempt", sent)
        })
      return AttemptDelivery.of({
        send,
        attempt: (delivery) =>
          Effect.map(
            send(delivery, () => ({ id: delivery.id, type: delivery.type, body: deliveryBody(delivery) })),
            (outcome): Settlement => {
              const next = nextState(delivery, outcome)
              return { deliveryId: delivery.id, attempt: delivery.attempt, outcome, next }
            },
          ),
      })
    }),
  )
}

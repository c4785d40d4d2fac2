/**
 * One attempt: builds and signs the body, sends it, and determines the next state of the delivery. It neither claims nor
 * settles.
 */
import { Context, Effect, Layer } from "effect"
import { instrument } from "../runtime/Instrument.ts"
import type { Outcome } from "./Attempt.ts"
import { Courier, USER_AGENT } from "./Courier.ts"
import { deliveryBody } from "./DeliveryBody.ts"
import type { Claimed, Settlement, NextState } from "./DeliveryQueue.ts"
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

export class AttemptDelivery extends Context.Service<
  AttemptDelivery,
  { readonly attempt: (delivery: Claimed) => Effect.Effect<Settlement> }
>()("@data-cabinet/core/delivery/AttemptDelivery") {
  static readonly layer = Layer.effect(
    AttemptDelivery,
    Effect.gen(function* () {
      const courier = yield* Courier
      return AttemptDelivery.of({
        attempt: (delivery) =>
          Effect.clockWith((clock) => {
            const settled = (outcome: Outcome): Settlement => {
              const next = nextState(delivery, outcome)
              return { deliveryId: delivery.id, attempt: delivery.attempt, outcome, next }
            }
            if (delivery.secrets.length === 0) return Effect.succeed(settled(NO_SECRET))
            const { headers = [], timeoutSeconds = null, identity } = delivery
            if (headers === null) return Effect.succeed(settled(NO_HEADERS))
            if (identity === null) return Effect.succeed(settled(NO_CLIENT_KEY))
            const body = deliveryBody(delivery)
            const t = Math.floor(clock.currentTimeMillisUnsafe() / 1000)
            const sent = courier.send({
              url: delivery.url,
              ...(timeoutSeconds === null ? {} : { timeoutMillis: timeoutSeconds * 1000 }),
              ...(identity === undefined ? {} : { identity }),
              headers: {
                ...(headers.length === 0 ? {} : Object.fromEntries(headers)),
                "Content-Type": "application/json",
                "User-Agent": USER_AGENT,
                "X-Service-Event": delivery.type,
                "X-Service-Delivery": String(delivery.id),
                "X-Service-Signature": signDelivery(body, delivery.secrets, t),
                ...standardHeaders(delivery.id, body, delivery.secrets, t),
              },
              body,
            })
            return Effect.map(instrument("delivery.attempt", sent), settled)
          }),
      })
    }),
  )
}

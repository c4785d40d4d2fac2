/** Sends deliveries over HTTP, in at most 15 seconds; reads at most 64 KB of the response and keeps 2 KB. */
import { RESPONSE_KEPT_BYTES, type Outcome } from "@data-cabinet/core/delivery/Attempt"
import { Courier } from "@data-cabinet/core/delivery/Courier"
import { Effect, Layer } from "effect"
import { PinnedClient } from "../outgoing/PinnedClient.ts"
import { PhaseClock } from "../outgoing/PhaseClock.ts"
import { memoized } from "../outgoing/Memoized.ts"
import { statusFailure } from "../outgoing/StatusFailure.ts"

const READ_BYTES = 65_536

export interface HttpCourierOptions {
  /** Default 15,000. */
  readonly deadlineMillis?: number
}

const failureOf = (status: number, location: unknown): string | null =>
  status >= 200 && status <= 299 ? null : statusFailure(status, typeof location === "string" ? location : null)

const lossy = new TextDecoder("utf-8", { ignoreBOM: true })

export const layer = (options: HttpCourierOptions = {}) =>
  Layer.effect(
    Courier,
    Effect.gen(function* () {
      const client = yield* PinnedClient
      const urlOf = memoized(1000, (text) => new URL(text))
      const deadlineMillis = options.deadlineMillis ?? 15_000
      return Courier.of({
        send: (request) =>
          Effect.clockWith((clock) => {
            const started = clock.currentTimeMillisUnsafe()
            const phases = new PhaseClock()
            const outcome = (seen: Omit<Outcome, "durationMs" | "timing">): Outcome => ({
              ...seen,
              durationMs: clock.currentTimeMillisUnsafe() - started,
              timing: phases.end(),
            })
            const sent = client.send({
              method: request.method,
              url: urlOf(request.url),
              headers: request.headers,
              ...(request.identity === undefined ? {} : { identity: request.identity }),
              body: request.body,
              phases,
              deadlineMillis: Math.min(request.timeoutMillis ?? deadlineMillis, deadlineMillis),
              readBytes: READ_BYTES,
              keepBytes: RESPONSE_KEPT_BYTES,
            })
            return Effect.match(sent, {
              onFailure: ({ message, peer }) => outcome({ status: null, failure: message, peer, responseBody: null }),
              onSuccess: ({ status, headers, peer, body }) =>
                outcome({
                  status,
                  failure: failureOf(status, headers["location"]),
                  peer,
                  responseBody: body.length === 0 ? null : lossy.decode(body),
                }),
            })
          }),
      })
    }),
  )

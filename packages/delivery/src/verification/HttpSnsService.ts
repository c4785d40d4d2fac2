/** Fetches certificates of Amazon SNS and confirms subscriptions, by the only client for outgoing requests. */
import { USER_AGENT } from "@data-cabinet/core/delivery/Courier"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { SnsService } from "@data-cabinet/core/verification/SnsService"
import { Cache, Effect, Exit, Layer } from "effect"
import { PinnedClient } from "../outgoing/PinnedClient.ts"

const REQUEST_MILLIS = 5_000
const MAX_BYTES = 65_536

/** SNS has one certificate for a region, and replaces it about once a year. */
const MAX_CERTIFICATES = 32
const CERTIFICATE_TTL = "1 day"
/** How long an address without a certificate is not requested again. */
const ABSENCE_TTL = "1 minute"

const unreachable = (why: string) =>
  new StoreUnavailable({ message: `Amazon SNS cannot be reached: ${why}`, retryAfter: 20, outcomeUnknown: false })

export const layer = Layer.effect(
  SnsService,
  Effect.gen(function* () {
    const client = yield* PinnedClient
    const get = (url: URL) =>
      client
        .send({
          method: "GET",
          url,
          headers: { "User-Agent": USER_AGENT },
          deadlineMillis: REQUEST_MILLIS,
          readBytes: MAX_BYTES,
          keepBytes: MAX_BYTES,
        })
        .pipe(Effect.mapError(({ message }) => unreachable(message)))

    const certificates = yield* Cache.makeWith<string, string | null, StoreUnavailable>(
      (address) =>
        Effect.flatMap(get(new URL(address)), ({ status, body }) => {
          if (status === 200) return Effect.succeed(Buffer.from(body).toString("latin1"))
          return status >= 400 && status < 500 && status !== 429
            ? Effect.succeed(null)
            : Effect.fail(unreachable(`it responded with ${status}`))
        }),
      {
        capacity: MAX_CERTIFICATES,
        timeToLive: (exit) => (!Exit.isSuccess(exit) ? 0 : exit.value === null ? ABSENCE_TTL : CERTIFICATE_TTL),
      },
    )

    return {
      certificate: (address: URL) => Cache.get(certificates, address.href),
      confirm: (address: URL) =>
        Effect.flatMap(get(address), ({ status }) =>
          status === 200 ? Effect.void : Effect.fail(unreachable(`it responded with ${status} to the confirmation`)),
        ),
    }
  }),
)

/**
 * Fetches certificates of Amazon SNS and confirms subscriptions, by the only client for outgoing requests.
 *
 * A sender who knows the name of a topic can name any address of SNS. So certificates are cached separately from
 * missing ones, where no invented address can displace them; and a client that named many wrong addresses has to queue.
 */
import { USER_AGENT } from "@data-cabinet/core/delivery/Courier"
import { StoreUnavailable } from "@data-cabinet/core/error/StoreUnavailable"
import { SecretLookups } from "@data-cabinet/core/limit/SecretLookups"
import { Cache, Clock, Effect, Exit, Layer, Option, Result } from "effect"
import { PinnedClient } from "../outgoing/PinnedClient.ts"
import { SnsService } from "@data-cabinet/core/verification/VerifySns"

const REQUEST_MILLIS = 5_000
const MAX_BYTES = 65_536

/** SNS has one certificate for each of some 40 regions, and replaces it about once a year. */
const MAX_CERTIFICATES = 256
const CERTIFICATE_MILLIS = 86_400_000
/** Addresses that are being requested, or that have no certificate. */
const MAX_ASKED = 256
/** How long an address without a certificate is not requested again. */
const ABSENCE_TTL = "1 minute"
/** Wrong addresses per minute and client that are requested at once, instead of one after the other. */
const WRONG_ADDRESSES = 10

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

    const read = (address: string): Effect.Effect<string | null, StoreUnavailable> =>
      Effect.flatMap(get(new URL(address)), ({ status, body }) => {
        if (status === 200) return Effect.succeed(Buffer.from(body).toString("latin1"))
        return status >= 400 && status < 500 && status !== 429
          ? Effect.succeed(null)
          : Effect.fail(unreachable(`it responded with ${status}`))
      })

    /** Shares a request in flight, and remembers that there is no certificate. */
    const asked = yield* Cache.makeWith<string, string | null, StoreUnavailable>(read, {
      capacity: MAX_ASKED,
      timeToLive: (exit) => (Exit.isSuccess(exit) && exit.value === null ? ABSENCE_TTL : 0),
    })
    const known = new KnownCertificates()
    const lookups = new SecretLookups(WRONG_ADDRESSES)

    const fetched = Effect.fnUntraced(function* (address: string, from: string | null, now: number) {
      // A failure also counts as wrong: a host that does not exist costs as much as one without a certificate.
      let failure: StoreUnavailable | null = null
      const look = Effect.map(Effect.result(Cache.get(asked, address)), (result) => {
        if (Result.isFailure(result)) failure = result.failure
        return Option.fromNullishOr(Result.isSuccess(result) ? result.success : null)
      })
      const found = yield* lookups
        .find(from, Buffer.from(address), look)
        .pipe(
          Effect.catchTag("TooManyWrong", () => Effect.fail(unreachable("this client named too many wrong addresses"))),
        )
      if (Option.isSome(found)) known.keep(address, found.value, now)
      else if (failure !== null) return yield* Effect.fail<StoreUnavailable>(failure)
      return Option.getOrNull(found)
    })

    return {
      certificate: ({ href }: URL, from: string | null) =>
        Effect.flatMap(Clock.currentTimeMillis, (now) => {
          const pem = known.get(href, now)
          return pem === null ? fetched(href, from, now) : Effect.succeed(pem)
        }),
      confirm: (address: URL) =>
        Effect.flatMap(get(address), ({ status }) =>
          status === 200 ? Effect.void : Effect.fail(unreachable(`it responded with ${status} to the confirmation`)),
        ),
    }
  }),
)

/** Certificates that Amazon served, each for a day; of more than it has, the least recently fetched goes. */
class KnownCertificates {
  readonly #kept = new Map<string, { readonly pem: string; readonly until: number }>()

  get(address: string, now: number): string | null {
    const found = this.#kept.get(address)
    return found !== undefined && now < found.until ? found.pem : null
  }

  keep(address: string, pem: string, now: number): void {
    this.#kept.delete(address)
    if (this.#kept.size >= MAX_CERTIFICATES) {
      const [oldest] = this.#kept.keys()
      if (oldest !== undefined) this.#kept.delete(oldest)
    }
    this.#kept.set(address, { pem, until: now + CERTIFICATE_MILLIS })
  }
}

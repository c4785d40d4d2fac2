/**
 * A connection to a broker of NATS. Each name is resolved once and its addresses are checked, as those of a delivery are; the
 * library gets only a checked address, and the certificate is checked against the name. It neither reconnects nor uses the
 * addresses that a broker announces.
 */
import { isIP } from "node:net"
import { DestinationFailure } from "@data-cabinet/core/destination/Destination"
import type { Broker, NatsCredentials } from "@data-cabinet/core/destination/NatsSettings"
import {
  type ConnectionOptions,
  errors,
  jwtAuthenticator,
  type NatsConnection,
  nkeyAuthenticator,
} from "@nats-io/transport-node"
import { Effect } from "effect"
import type { PinnedClient } from "../outgoing/PinnedClient.ts"
import { connectLimited, type LimitedOptions } from "./NatsTransport.ts"

/** For an address: of many brokers, all get their turn while the lease of the destination lasts. */
const CONNECT_MILLIS = 3_000
const ALL_CONNECT_MILLIS = 12_000

const fail = (message: string) => Effect.fail(new DestinationFailure({ message }))

/** Why connecting failed. */
const whyNot = (broker: Broker, error: unknown, hasCredentials: boolean): string => {
  const message = error instanceof Error ? error.message : String(error)
  if (error instanceof errors.AuthorizationError || error instanceof errors.UserAuthenticationExpiredError) {
    const mend = hasCredentials ? "Give its credentials again" : "Give it credentials"
    return `The broker ${broker.text} refused to sign in: ${message}. ${mend} with cabinet destination set.`
  }
  // The library's, when a broker demands encryption and gets no options for it.
  if (!broker.secure && error instanceof Error && error.cause instanceof TypeError) {
    return `The broker ${broker.text} demands encryption: give its address with tls://.`
  }
  return `The broker was not reached at ${broker.text}: ${message}.`
}

const signIn = (credentials: NatsCredentials | null): ConnectionOptions => {
  if (credentials === null) return {}
  if ("user" in credentials) return { user: credentials.user, pass: credentials.password }
  if ("token" in credentials) return { token: credentials.token }
  const seed = new TextEncoder().encode(credentials.seed)
  return { authenticator: credentials.jwt === null ? nkeyAuthenticator(seed) : jwtAuthenticator(credentials.jwt, seed) }
}

/** Of the certificate: a name is also sent to the broker, an IP address is only compared. */
const certified = ({ host }: Broker): object => (isIP(host) === 0 ? { servername: host } : { host })

/** What is the same for all brokers. */
interface Attempt {
  readonly credentials: NatsCredentials | null
  readonly timeout: number
  /** Aborted with the scope, also while there is no connection yet. */
  readonly ended: AbortSignal
}

const optionsFor = (broker: Broker, address: string, { credentials, timeout, ended }: Attempt): LimitedOptions => ({
  servers: [`${isIP(address) === 6 ? `[${address}]` : address}:${broker.port}`],
  resolve: false,
  ignoreClusterUpdates: true,
  reconnect: false,
  timeout,
  ended,
  tls: broker.secure ? certified(broker) : null,
  name: "data-cabinet",
  noAsyncTraces: true,
  ...signIn(credentials),
})

const reach = Effect.fnUntraced(function* (client: PinnedClient["Service"], broker: Broker, attempt: Attempt) {
  const addresses = yield* client
    .check(broker.url)
    .pipe(Effect.catch(({ message }) => fail(`The broker was not reached at ${broker.text}: ${message}.`)))
  const attempts = addresses.map((address) =>
    Effect.tryPromise({
      try: () => connectLimited(optionsFor(broker, address, attempt)),
      catch: (error) => new DestinationFailure({ message: whyNot(broker, error, attempt.credentials !== null) }),
    }),
  )
  return yield* Effect.firstSuccessOf(attempts)
})

const close = (connection: NatsConnection) => Effect.ignore(Effect.tryPromise(() => connection.close()))

/** A connection to the first broker that responds, until the scope ends. Connecting can be interrupted. */
export const natsConnection = Effect.fnUntraced(function* (
  client: PinnedClient["Service"],
  brokers: ReadonlyArray<Broker>,
  credentials: NatsCredentials | null,
) {
  const ended = yield* Effect.abortSignal
  const timeout = Math.min(CONNECT_MILLIS, Math.floor(ALL_CONNECT_MILLIS / brokers.length))
  const attempts = brokers.map((broker) => reach(client, broker, { credentials, timeout, ended }))
  return yield* Effect.acquireRelease(Effect.firstSuccessOf(attempts), close, { interruptible: true })
})

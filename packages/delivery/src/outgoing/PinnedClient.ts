/**
 * The only HTTP client for outgoing requests. It resolves a host once, refuses it if any of its addresses is not public,
 * and connects to exactly the addresses it checked; the certificate is checked against the name. It follows no redirect,
 * supports neither proxies nor HTTP/2, decodes no body, and applies one deadline to everything.
 */
import { isIP } from "node:net"
import { Context, Effect, Layer } from "effect"
import type { Scope, Stream } from "effect"
import { makeBodyStream } from "./BodyStream.ts"
import { canConnect, type ConnectionOptions, Connections, loadLibrary } from "./Connections.ts"
import { type ResponseHead, Exchange, type OutgoingRequest } from "./Exchange.ts"
import type { Network } from "@data-cabinet/core/network/IpAddress"
import { NameLookup } from "./NameLookup.ts"
import { OutgoingError } from "./OutgoingError.ts"
import { whyNotPublic } from "./PublicAddress.ts"
import { memoized } from "./Memoized.ts"
import { sender, tooLate, type WholeResponse, type WholeRequest } from "./Sending.ts"
import { ReceiverCertificates } from "@data-cabinet/core/delivery/Courier"

export interface PinnedClientOptions extends ConnectionOptions {
  /** Networks that are allowed although they are not public. Default none. */
  readonly allowedNetworks?: ReadonlyArray<Network>
}

export interface StreamRequest extends OutgoingRequest {
  /** Until the head arrives, and between two pieces of the body. */
  readonly deadlineMillis: number
  /** A longer body fails with `bad_response`. */
  readonly maxBytes: number
}

export interface StreamResponse extends ResponseHead {
  readonly body: Stream.Stream<Uint8Array, OutgoingError>
}

export class PinnedClient extends Context.Service<
  PinnedClient,
  {
    /** The addresses of the URL's host, all of them public or explicitly allowed. Opens no connection. */
    readonly check: (url: URL) => Effect.Effect<ReadonlyArray<string>, OutgoingError>
    /** For deliveries: sends, and waits for the response's status and the beginning of its body. */
    readonly send: (request: WholeRequest) => Effect.Effect<WholeResponse, OutgoingError>
    /**
     * For polling: returns the head at once, and the body as a stream that ends with the scope. The caller bounds the total
     * time.
     */
    readonly open: (request: StreamRequest) => Effect.Effect<StreamResponse, OutgoingError, Scope.Scope>
  }
>()("@data-cabinet/delivery/outgoing/PinnedClient") {}

const refusal = (code: OutgoingError["code"], message: string) => new OutgoingError({ code, message, peer: null })

const whyBadForm = ({ protocol, username, password }: URL): string | null => {
  if (protocol !== "http:" && protocol !== "https:")
    return `the scheme of the URL must be http or https, not ${protocol}`
  return username !== "" || password !== "" ? "the URL must not contain a user name or password" : null
}

/** The IP address in a URL's host, without brackets; null for a name. */
const literal = ({ hostname }: URL): string | null => {
  const host = hostname.startsWith("[") ? hostname.slice(1, -1) : hostname
  return isIP(host) === 0 ? null : host
}

/** Why one of the addresses may not be reached; null if all may. */
const refused = (
  url: URL,
  addresses: ReadonlyArray<string>,
  verdict: (address: string) => string | null,
): OutgoingError | null => {
  for (const address of addresses) {
    const why = verdict(address)
    if (why === null) continue
    const where = addresses[0] === literal(url) ? address : `${url.hostname} resolves to ${address}, which`
    return refusal("not_public", `${where} is not a public address: ${why}`)
  }
  return null
}

const make = (options: PinnedClientOptions) =>
  Effect.gen(function* () {
    const names = yield* NameLookup
    const { saw } = yield* ReceiverCertificates
    const verdict = memoized(1000, (address) => whyNotPublic(address, options.allowedNetworks ?? []))
    const connections = yield* Effect.acquireRelease(
      Effect.sync(() => new Connections({ saw, ...options })),
      (all) => Effect.sync(() => all.destroy()),
    )

    // A server that keeps running while its package is replaced must have its modules loaded.
    yield* Effect.forkScoped(Effect.delay(loadLibrary, "1 second"))
    const sendWhole = sender(connections)

    const check = (url: URL): Effect.Effect<ReadonlyArray<string>, OutgoingError> => {
      const badForm = whyBadForm(url)
      if (badForm !== null) return Effect.fail(refusal("bad_url", badForm))
      const ip = literal(url)
      const found = ip === null ? names.addresses(url.hostname) : Effect.succeed([ip])
      return Effect.flatMap(found, (addresses) => {
        const error = refused(url, addresses, verdict)
        return error === null ? Effect.succeed(addresses) : Effect.fail(error)
      })
    }

    /**
     * Applies the deadline before there is a connection, which has its own: resolving a name may take long, but an IP
     * address takes no time.
     */
    const checkWithin = (url: URL, millis: number) =>
      literal(url) === null
        ? Effect.timeoutOrElse(check(url), { duration: millis, orElse: () => Effect.fail(tooLate(millis, null)) })
        : check(url)

    const send = (request: WholeRequest): Effect.Effect<WholeResponse, OutgoingError> =>
      Effect.clockWith((clock) => {
        if (!canConnect()) return Effect.andThen(loadLibrary, send(request))
        const { url, deadlineMillis, identity } = request
        const began = clock.currentTimeMillisUnsafe()
        if (literal(url) === null) request.phases?.enter("nameMs")
        return Effect.flatMap(checkWithin(url, deadlineMillis), (addresses) =>
          sendWhole({ origin: url.origin, addresses, ...(identity === undefined ? {} : { identity }) }, request, began),
        )
      })

    const open = Effect.fnUntraced(function* (request: StreamRequest) {
      if (!canConnect()) yield* loadLibrary
      const body = yield* makeBodyStream(request.maxBytes, request.deadlineMillis)
      let exchange: Exchange | null = null
      const begun = Effect.gen(function* () {
        const addresses = yield* check(request.url)
        const target = { origin: request.url.origin, addresses }
        exchange = yield* Effect.acquireRelease(
          Effect.sync(() => new Exchange(connections.take(target, true), request, body.listener)),
          (running) =>
            Effect.sync(() => {
              running.abort()
              running.connection.destroy()
            }),
        )
        return yield* body.head
      })
      const head = yield* Effect.timeoutOrElse(begun, {
        duration: request.deadlineMillis,
        orElse: () => Effect.fail(tooLate(request.deadlineMillis, exchange?.connection.peer ?? null)),
      })
      return { ...head, body: body.of(exchange!) }
    })

    return PinnedClient.of({ check, send, open })
  })

export const layer = (options: PinnedClientOptions = {}) => Layer.effect(PinnedClient, make(options))

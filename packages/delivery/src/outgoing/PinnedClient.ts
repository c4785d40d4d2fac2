/**
 * The one HTTP client that leaves the house. It resolves a host once, refuses it if any of its addresses is not public,
 * and connects to exactly what it checked; the certificate is checked against the name. It follows no redirect, knows no
 * proxy and no HTTP/2, asks for no compression, and puts one deadline over everything.
 */
import { rootCertificates } from "node:tls"
import { Clock, Context, Deferred, Effect, Layer } from "effect"
import type { Scope, Stream } from "effect"
import { makeBodyStream } from "./BodyStream.ts"
import { type Connection, type ConnectionOptions, Connections, type Target } from "./Connections.ts"
import { type AnswerHead, Exchange, type OutgoingRequest, type Sink } from "./Exchange.ts"
import { type Network, parseIp } from "./IpAddress.ts"
import { NameLookup } from "./NameLookup.ts"
import { OutgoingError } from "./OutgoingError.ts"
import { whyNotPublic } from "./PublicAddress.ts"

export interface PinnedClientOptions extends ConnectionOptions {
  /** Networks that may be reached although they are not public. Default none. */
  readonly allowedNetworks?: ReadonlyArray<Network>
}

export interface WholeRequest extends OutgoingRequest {
  /** Over name, connection, request and answer. */
  readonly deadlineMillis: number
  /** How much of the body is read at most, and how much of that is given back. */
  readonly readBytes: number
  readonly keepBytes: number
  /** How long the body is read on once the status is known. Default 2,000. */
  readonly bodyMillis?: number
}

/** The beginning of the body, as far as it came: once there is a status, a body that breaks off is no error. */
export interface WholeAnswer extends AnswerHead {
  readonly body: Uint8Array
}

export interface StreamRequest extends OutgoingRequest {
  /** Until the head is there, and between two pieces of the body. */
  readonly deadlineMillis: number
  /** A longer body fails with `bad_answer`. */
  readonly maxBytes: number
}

export interface StreamAnswer extends AnswerHead {
  readonly body: Stream.Stream<Uint8Array, OutgoingError>
}

export class PinnedClient extends Context.Service<
  PinnedClient,
  {
    /** The addresses of the URL's host, all of them public or allowed. Opens no connection to them. */
    readonly check: (url: URL) => Effect.Effect<ReadonlyArray<string>, OutgoingError>
    /** For deliveries: sends, and waits for status and beginning of the answer. */
    readonly send: (request: WholeRequest) => Effect.Effect<WholeAnswer, OutgoingError>
    /** For polling: the head at once, the body as a stream that the scope ends. The caller bounds the whole in time. */
    readonly open: (request: StreamRequest) => Effect.Effect<StreamAnswer, OutgoingError, Scope.Scope>
  }
>()("@data-cabinet/delivery/outgoing/PinnedClient") {}

const fail = (code: OutgoingError["code"], message: string) =>
  Effect.fail(new OutgoingError({ code, message, peer: null }))

/** Which connection a request came to, for the words of a failure. */
interface Trace {
  connection: Connection | null
}

const tooLate = (millis: number, { connection }: Trace) => {
  const peer = connection?.peer ?? null
  const message = `${peer === null ? "no connection" : "no answer"} within ${millis / 1000} s`
  return Effect.fail(new OutgoingError({ code: "timeout", message, peer }))
}

const make = (options: PinnedClientOptions) =>
  Effect.gen(function* () {
    const names = yield* NameLookup
    const allowed = options.allowedNetworks ?? []
    const connections = yield* Effect.acquireRelease(
      Effect.sync(() => new Connections(options, rootCertificates)),
      (all) => Effect.sync(() => all.destroy()),
    )

    const check = Effect.fnUntraced(function* (url: URL) {
      if (url.protocol !== "http:" && url.protocol !== "https:") {
        return yield* fail("bad_url", `only http and https can be sent to, not ${url.protocol}`)
      }
      if (url.username !== "" || url.password !== "")
        return yield* fail("bad_url", "the URL carries a user name or a password")
      const host = url.hostname.replace(/^\[|\]$/g, "")
      const literal = parseIp(host) !== null
      const addresses = literal ? [host] : yield* names.addresses(host)
      for (const address of addresses) {
        const why = whyNotPublic(address, allowed)
        if (why === null) continue
        const where = literal ? address : `${host} leads to ${address}, which`
        return yield* fail("not_public", `${where} is not a public address: ${why}`)
      }
      return addresses
    })

    /** Begins an exchange; the release ends it and keeps or closes its connection. */
    const exchange = (target: Target, request: OutgoingRequest, sink: Sink, fresh: boolean, trace: Trace) =>
      Effect.acquireRelease(
        Effect.sync(() => {
          const connection = connections.take(target, fresh)
          trace.connection = connection
          return { connection, used: connection.uses > 0, exchange: new Exchange(connection, request, sink) }
        }),
        ({ connection, exchange: running }) =>
          Effect.gen(function* () {
            const whole = Deferred.isDoneUnsafe(running.end) && (yield* Effect.exit(Deferred.await(running.end)))
            if (whole !== false && whole._tag === "Success" && whole.value) {
              connections.keep(connection, yield* Clock.currentTimeMillis)
            } else {
              running.abort()
              connection.destroy()
            }
          }),
      )

    /** The head. A kept connection that the other side was just closing is no failure of the address: a new one is made. */
    const begin = Effect.fnUntraced(function* (target: Target, request: OutgoingRequest, sink: Sink, trace: Trace) {
      const first = yield* exchange(target, request, sink, false, trace)
      const answered = Effect.map(Deferred.await(first.exchange.head), (head) => ({ head, exchange: first.exchange }))
      if (!first.used) return yield* answered
      const again = Effect.gen(function* () {
        const second = yield* exchange(target, request, sink, true, trace)
        return { head: yield* Deferred.await(second.exchange.head), exchange: second.exchange }
      })
      return yield* Effect.catchIf(
        answered,
        (error) => error.code === "no_connection",
        () => again,
      )
    })

    const send = Effect.fnUntraced(function* (request: WholeRequest) {
      const started = yield* Clock.currentTimeMillis
      const chunks: Array<Uint8Array> = []
      let kept = 0
      let read = 0
      const sink: Sink = (chunk) => {
        const room = request.keepBytes - kept
        if (room > 0) chunks.push(chunk.subarray(0, room))
        kept += Math.min(room, chunk.length)
        read += chunk.length
        return read < request.readBytes
      }
      const trace: Trace = { connection: null }
      const running = Effect.gen(function* () {
        const addresses = yield* check(request.url)
        return yield* begin({ origin: request.url.origin, addresses }, request, sink, trace)
      })
      const { head, exchange: answer } = yield* Effect.timeoutOrElse(running, {
        duration: request.deadlineMillis,
        orElse: () => tooLate(request.deadlineMillis, trace),
      })
      // A short answer has mostly ended with its head.
      if (!Deferred.isDoneUnsafe(answer.end)) {
        const left = request.deadlineMillis - ((yield* Clock.currentTimeMillis) - started)
        const patience = Math.max(1, Math.min(left, request.bodyMillis ?? 2000))
        yield* Effect.ignore(Effect.timeoutOption(Deferred.await(answer.end), patience))
      }
      return { ...head, body: new Uint8Array(Buffer.concat(chunks)) }
    }, Effect.scoped)

    const open = Effect.fnUntraced(function* (request: StreamRequest) {
      const body = yield* makeBodyStream(request.maxBytes, request.deadlineMillis)
      const trace: Trace = { connection: null }
      const running = Effect.gen(function* () {
        const addresses = yield* check(request.url)
        return yield* begin({ origin: request.url.origin, addresses }, request, body.sink, trace)
      })
      const { head, exchange: answer } = yield* Effect.timeoutOrElse(running, {
        duration: request.deadlineMillis,
        orElse: () => tooLate(request.deadlineMillis, trace),
      })
      return { ...head, body: yield* body.of(answer) }
    })

    return PinnedClient.of({ check, send, open })
  })

export const layer = (options: PinnedClientOptions = {}) => Layer.effect(PinnedClient, make(options))

/**
 * Kept-alive connections, each pinned to the addresses that were checked for it: its `lookup` returns that list alone, and
 * a socket connected to any other address is closed unused. One request at a time on each.
 */
import { hash } from "node:crypto"
import type { LookupFunction, Socket } from "node:net"
import {
  createSecureContext,
  rootCertificates,
  type SecureContext,
  type SecureContextOptions,
  TLSSocket,
} from "node:tls"
import type { ClientIdentity } from "@data-cabinet/core/delivery/ClientIdentity"
import { parseIp } from "@data-cabinet/core/network/IpAddress"
import { Effect } from "effect"
import type { Client } from "undici"
import { LooseHead } from "./LooseHead.ts"
import { OutgoingError } from "./OutgoingError.ts"
import type { PhaseClock } from "./PhaseClock.ts"

let library: typeof import("undici") | undefined

/**
 * Whether connections can be opened: the library is loaded with the first request, because loading it takes a tenth of
 * a start.
 */
export const canConnect = (): boolean => library !== undefined

/** To be awaited before the first connection. */
export const loadLibrary: Effect.Effect<void> = Effect.promise(async () => {
  library = await import("undici")
})

/** The target of requests: the same origin at other addresses, or for another client certificate, is another target. */
export interface Target {
  readonly origin: string
  readonly addresses: ReadonlyArray<string>
  /** With which the client identifies itself over TLS. */
  readonly identity?: ClientIdentity
}

export interface ConnectionOptions {
  /** PEM certificates trusted in addition to the system's own. */
  readonly ca?: ReadonlyArray<string>
  /** How many idle connections are kept. Default 512. */
  readonly maxIdle?: number
  /** Called for each new TLS connection with the end of the peer's certificate, in milliseconds since 1970. */
  readonly saw?: (origin: string, endsAt: number) => void
}

/** Shorter than what servers commonly keep: a request sent into a closing connection is lost. */
const KEEP_ALIVE_MILLIS = 4000
const IDLE_MILLIS = 10_000
const MAX_HEADER_BYTES = 16_384

/** The identity that connections present to the receiver; `id` distinguishes it from all others. */
interface Identified {
  readonly id: string
  readonly context: SecureContext
}

const MAX_IDENTITIES = 1000

/** The library takes what arrives by `read` alone. */
const readThrough = (socket: Socket, head: LooseHead): void => {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null
  socket.read = (size?: number) => {
    if (size !== undefined) return read(size)
    for (let bytes = read(); bytes !== null; bytes = read()) {
      const passed = head.push(bytes)
      if (passed !== null) return passed
    }
    return null
  }
}

export class Connection {
  readonly key: string
  readonly client: Client
  /** Whether it has a client certificate. */
  readonly isIdentified: boolean
  /** Sits between the socket and the parser. */
  readonly looseHead = new LooseHead(MAX_HEADER_BYTES)
  /** Requests sent on the current socket. */
  uses = 0
  idleSince = 0
  peer: string | null = null
  /** Of the request under way. */
  phases: PhaseClock | undefined
  /** The TLS 1.3 alert on the current socket, which the library reports only as a close by the peer. */
  socketError: Error | null = null
  #socket: Socket | null = null

  constructor(key: string, target: Target, secure: object, saw: ConnectionOptions["saw"]) {
    this.key = key
    this.isIdentified = target.identity !== undefined
    const list = target.addresses.map((address) => ({ address, family: parseIp(address)!.family }))
    const checked = list.map(({ address }) => parseIp(address)!.value)
    const lookup: LookupFunction = (_name, options, done) =>
      options.all === true ? done(null, list) : done(null, list[0]!.address, list[0]!.family)
    const { buildConnector, Client: NewClient } = library!
    const connect = buildConnector({
      ...secure,
      allowH2: false,
      timeout: 0,
      maxCachedSessions: 0,
      lookup,
      autoSelectFamily: true,
    })
    this.client = new NewClient(target.origin, {
      pipelining: 1,
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MILLIS,
      keepAliveMaxTimeout: KEEP_ALIVE_MILLIS,
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: MAX_HEADER_BYTES,
      connect: (options, done) => {
        this.uses = 0
        this.peer = null
        this.socketError = null
        this.looseHead.reset()
        this.phases?.enter("connectMs")
        const opening = connect(options, (error, socket) => {
          if (error !== null) return done(error, null)
          const reached = parseIp(socket.remoteAddress ?? "")
          if (reached === null || !checked.includes(reached.value)) {
            socket.destroy()
            return done(new Error(`connected to ${socket.remoteAddress}, which was not checked`), null)
          }
          if (saw !== undefined && socket instanceof TLSSocket) {
            const endsAt = Date.parse(socket.getPeerCertificate().valid_to)
            if (!Number.isNaN(endsAt)) saw(target.origin, endsAt)
          }
          readThrough(socket, this.looseHead)
          this.phases?.enter("waitMs")
          return done(null, socket)
        }) as unknown as Socket
        this.#socket = opening
        opening.once("error", (error) => {
          this.socketError = error
        })
        opening.once("connect", () => {
          this.peer = opening.remoteAddress ?? null
          if (opening instanceof TLSSocket) this.phases?.enter("tlsMs")
        })
      },
    })
  }

  destroy(): void {
    this.#socket?.destroy()
    void this.client.destroy()
  }
}

/** The saved certificate or key may be too weak for this process's OpenSSL. */
const contextOf = (options: SecureContextOptions): SecureContext => {
  try {
    return createSecureContext(options)
  } catch (error) {
    const message = `the client certificate cannot be used: ${(error as Error).message}`
    throw new OutgoingError({ code: "no_connection", message, peer: null })
  }
}

export class Connections {
  readonly #idle = new Map<string, Array<Connection>>()
  readonly #secure: { readonly ca?: Array<string> }
  readonly #identified = new Map<string, Identified>()
  readonly #maxIdle: number
  readonly #saw: ConnectionOptions["saw"]
  #idleCount = 0

  constructor(options: ConnectionOptions) {
    this.#secure = options.ca === undefined ? {} : { ca: [...rootCertificates, ...options.ca] }
    this.#maxIdle = options.maxIdle ?? 512
    this.#saw = options.saw
  }

  take(target: Target, fresh: boolean): Connection {
    const { origin, addresses, identity } = target
    const identified = identity === undefined ? null : this.#identify(identity)
    const place = `${origin} ${addresses.length === 1 ? addresses[0] : [...addresses].sort().join(" ")}`
    const key = identified === null ? place : `${place} ${identified.id}`
    const idle = this.#idle.get(key)
    const kept = fresh ? undefined : idle?.pop()
    if (kept === undefined) {
      const secure = identified === null ? this.#secure : { secureContext: identified.context }
      return new Connection(key, target, secure, this.#saw)
    }
    this.#idleCount--
    if (idle!.length === 0) this.#idle.delete(key)
    return kept
  }

  /** Returns a connection whose response was read to its end. */
  keep(connection: Connection, now: number): void {
    connection.idleSince = now
    const idle = this.#idle.get(connection.key) ?? []
    this.#idle.delete(connection.key)
    this.#idle.set(connection.key, idle)
    idle.push(connection)
    this.#idleCount++
    for (const [key, [oldest]] of this.#idle) {
      if (this.#idleCount <= this.#maxIdle && now - oldest!.idleSince < IDLE_MILLIS) break
      this.#idle.get(key)!.shift()
      if (this.#idle.get(key)!.length === 0) this.#idle.delete(key)
      this.#idleCount--
      oldest!.destroy()
    }
  }

  /** Reading a key costs more than a request. */
  #identify({ certificate, key }: ClientIdentity): Identified {
    const text = certificate + key
    const known = this.#identified.get(text)
    if (known !== undefined) return known
    if (this.#identified.size >= MAX_IDENTITIES) this.#identified.clear()
    const identified = { id: hash("sha256", text), context: contextOf({ ...this.#secure, cert: certificate, key }) }
    this.#identified.set(text, identified)
    return identified
  }

  destroy(): void {
    for (const connection of [...this.#idle.values()].flat()) connection.destroy()
    this.#idle.clear()
    this.#idleCount = 0
  }
}

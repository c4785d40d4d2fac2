/**
 * A connection that the driver opens, logs in on and keeps, and that we read from between its statements. While a
 * receiver has taken it over, the server's bytes go to the receiver and not to the driver; the two never use it at the
 * same time, because a session is lent to one caller.
 *
 * TLS is negotiated here and not by the driver, which would otherwise alone see the decrypted bytes. Nothing is sent in
 * clear text where TLS is required: a server without TLS is refused.
 */
import { Duplex } from "node:stream"
import * as Tls from "node:tls"
import { PgProtocol } from "@effect/sql-pg"
import { Result } from "effect"

/** The options of TLS, with the name that the certificate must have; none if it is not encrypted. */
export type Encryption = Tls.ConnectionOptions | boolean | undefined

/** Receives the server's response to a statement that the driver does not know of. */
export interface Receiver {
  readonly receive: (chunk: Uint8Array) => void
  /** The connection is lost; nothing more will come. */
  readonly lost: (cause: Error) => void
}

/** The key that a cancel request needs for a session's statement. */
export interface BackendKey {
  readonly pid: number
  readonly secret: number
}

const ERROR_RESPONSE = 0x45
const BACKEND_KEY = 0x4b

/** More than any server sends before its key. */
const MAX_GREETING_BYTES = 65_536

export class Wire extends Duplex {
  /** Sent once after the login; `keyed` is called with it. */
  key: BackendKey | undefined
  readonly #keyed: (wire: Wire) => void
  #socket: Duplex
  /** Whether the driver's bytes may be sent: not before TLS is negotiated. */
  #isOpen = false
  #unsent: (() => void) | undefined
  #greeting: Buffer | undefined = Buffer.alloc(0)
  #receiver: Receiver | undefined
  #cause: Error | undefined

  constructor(socket: Duplex, encryption: Encryption, keyed: (wire: Wire) => void) {
    super({ allowHalfOpen: true })
    this.#keyed = keyed
    this.#socket = socket
    if (encryption === undefined || encryption === false) this.#open(socket)
    else this.#negotiate(socket, encryption === true ? {} : encryption)
  }

  /** From now on the server's messages go to the receiver. */
  takeOver(receiver: Receiver): void {
    this.#receiver = receiver
    if (this.destroyed) receiver.lost(this.#cause ?? closed())
    else this.#socket.resume()
  }

  /** The receiver pauses: the server's bytes wait at the server and in the system's buffers. */
  hold(): void {
    if (!this.destroyed) this.#socket.pause()
  }

  /** Ends a `hold`. */
  goOn(): void {
    if (!this.destroyed) this.#socket.resume()
  }

  /** Sends bytes of the receiver's. */
  send(bytes: Uint8Array): void {
    if (!this.destroyed) this.#socket.write(bytes)
  }

  /** The driver receives all further bytes, beginning with these. */
  giveBack(rest: Uint8Array): void {
    this.#receiver = undefined
    if (rest.length > 0 && !this.destroyed) this.#deliver(rest)
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    const write = () => void this.#socket.write(chunk, done)
    if (this.#isOpen) write()
    else this.#unsent = write
  }

  override _final(done: (error?: Error | null) => void): void {
    this.#socket.end(done)
  }

  override _destroy(error: Error | null, done: (error?: Error | null) => void): void {
    this.#cause ??= error ?? undefined
    this.#socket.destroy()
    this.#loseReceiver()
    done(error)
  }

  #loseReceiver(): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.lost(this.#cause ?? closed())
  }

  #open(socket: Duplex): void {
    this.#socket = socket
    this.#isOpen = true
    socket.on("data", (chunk: Uint8Array) => this.#received(chunk))
    socket.on("end", () => this.push(null))
    this.#endWith(socket)
    this.#unsent?.()
    this.#unsent = undefined
  }

  #endWith(socket: Duplex): void {
    socket.on("error", (error) => {
      this.#cause = error
      this.destroy(error)
    })
    socket.on("close", () => this.destroy())
  }

  #received(chunk: Uint8Array): void {
    if (this.#receiver !== undefined) return this.#receiver.receive(chunk)
    if (this.#greeting !== undefined) this.#readGreeting(chunk)
    this.#deliver(chunk)
  }

  #deliver(chunk: Uint8Array): void {
    if (!this.push(chunk)) this.#socket.pause()
  }

  /** Looks for the session's key among the server's first messages, which are the driver's. */
  #readGreeting(chunk: Uint8Array): void {
    const greeting = Buffer.concat([this.#greeting!, chunk])
    this.#greeting = greeting.length > MAX_GREETING_BYTES ? undefined : greeting
    for (let at = 0; at + 5 <= greeting.length; at += greeting.readUInt32BE(at + 1) + 1) {
      if (greeting[at] !== BACKEND_KEY) continue
      if (at + 13 > greeting.length) return
      this.#greeting = undefined
      this.key = { pid: greeting.readInt32BE(at + 5), secret: greeting.readInt32BE(at + 9) }
      return this.#keyed(this)
    }
  }

  #negotiate(socket: Duplex, options: Tls.ConnectionOptions): void {
    const fail = (message: string) => void this.destroy(new Error(message))
    const failed = (error: Error) => void this.destroy(error)
    const gone = () => void this.destroy()
    socket.on("error", failed).on("close", gone)
    const refused = (chunk: Uint8Array) => void this.push(chunk)
    const onResponse = (chunk: Uint8Array): void => {
      socket.off("data", onResponse)
      if (chunk[0] === ERROR_RESPONSE) {
        // The driver reports what PostgreSQL sent; its own bytes are never sent.
        socket.on("data", refused)
        return refused(chunk)
      }
      if (chunk.length !== 1) return fail(`Received ${chunk.length} bytes in response to SSLRequest`)
      const response = PgProtocol.decodeSslResponse(chunk[0]!)
      if (Result.isFailure(response)) return failed(response.failure)
      if (response.success === "N") return fail("The server does not support TLS")
      socket.off("error", failed).off("close", gone)
      const secured = Tls.connect({ ...options, socket })
      secured.on("error", failed).on("close", gone)
      secured.once("secureConnect", () => {
        secured.off("error", failed).off("close", gone)
        this.#open(secured)
      })
    }
    socket.on("data", onResponse)
    socket.write(PgProtocol.encodeSslRequest())
  }
}

/** The connection in clear text; TLS is negotiated here if requested. */
export const decrypted = (socket: Duplex, encryption: Encryption): Duplex =>
  encryption === undefined || encryption === false ? socket : new Wire(socket, encryption, () => undefined)

const closed = () => new Error("Connection closed")

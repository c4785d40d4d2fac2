/**
 * Requests whose address holds bytes above 127, as `curl 'https://…?name=Иван'` sends them. Node's parser refuses these,
 * and its lenient mode would accept much else with them. So such a request is parsed a second time, as strictly as the
 * first, with those bytes percent-encoded: within the request's target and nowhere else, so that the end of the request and
 * its headers are read as they were sent.
 */
import type { Server } from "node:http"
import type { Socket } from "node:net"
import { Duplex } from "node:stream"

/** Node's error for bytes that its parser refused. */
export interface ParserError extends NodeJS.ErrnoException {
  readonly rawPacket?: Buffer
  readonly bytesParsed?: number
  readonly reason?: string
}

const SPACE = 32

/** One space, and before the refused byte nothing that ends a target: the request begins where the packet does. */
const BEGINNING = /^(?:GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS) [!-~]*$/

/**
 * If the packet is the beginning of such a request, hands the connection on to the server, which gets it as a new one, and
 * returns true. No other request of the connection may be in flight, and this one is its last.
 */
export const forwardRawTarget = (server: Server, socket: Socket, error: ParserError): boolean => {
  const { code, rawPacket, bytesParsed } = error
  if (code !== "HPE_INVALID_URL" || rawPacket === undefined || bytesParsed === undefined) return false
  const refused = rawPacket[bytesParsed]
  if (refused === undefined || refused < 0x80) return false
  if (!BEGINNING.test(rawPacket.toString("latin1", 0, bytesParsed))) return false
  server.emit("connection", new Replayed(socket, rawPacket))
  return true
}

/** Whether a request arrived on a connection that was handed on: it is the last one there. */
export const isReplayed = (socket: Duplex): boolean => socket instanceof Replayed

/** The connection of `socket`, starting with `packet`. */
class Replayed extends Duplex {
  readonly #socket: Socket
  #inTarget = true

  constructor(socket: Socket, packet: Buffer) {
    super({ allowHalfOpen: true })
    this.#socket = socket
    // The parser that gave up gets no more data; these listeners receive what would have gone to it.
    socket.removeAllListeners("data").setTimeout(0)
    socket.on("data", (chunk: Buffer) => {
      if (!this.push(this.#encoded(chunk, 0))) socket.pause()
    })
    socket.once("end", () => this.push(null))
    socket.once("error", (error) => this.destroy(error))
    socket.once("close", () => this.destroy())
    this.push(this.#encoded(packet, packet.indexOf(SPACE) + 1))
  }

  /** The sender's address, which is read from a request's `socket`. */
  get remoteAddress(): string | undefined {
    return this.#socket.remoteAddress
  }

  get remotePort(): number | undefined {
    return this.#socket.remotePort
  }

  override _read(): void {
    this.#socket.resume()
  }

  override _write(chunk: Buffer, encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#socket.write(chunk, encoding, done)
  }

  override _final(done: () => void): void {
    this.#socket.destroySoon()
    done()
  }

  override _destroy(error: Error | null, done: (error: Error | null) => void): void {
    this.#socket.destroy()
    done(error)
  }

  /** The target ends with the first space or line end; nothing after it is changed. */
  #encoded(chunk: Buffer, from: number): Buffer {
    if (!this.#inTarget) return chunk
    let end = from
    let raw = 0
    for (; end < chunk.length && chunk[end]! > SPACE; end++) if (chunk[end]! >= 0x80) raw++
    if (end < chunk.length) this.#inTarget = false
    if (raw === 0) return chunk
    const target = chunk.toString("latin1", from, end).replaceAll(/[\x80-\xff]/g, percent)
    return Buffer.concat([chunk.subarray(0, from), Buffer.from(target, "latin1"), chunk.subarray(end)])
  }
}

const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`

/**
 * The library's socket to a broker, with three limits that the library lacks, and an end at any moment. The limits concern what a broker, or anyone
 * between, writes before the connection is encrypted:
 *
 * - After `tls://` nothing is sent to a broker that does not encrypt. The library compares what the broker says of that in two
 *   ways, so a first line such as `"tls_available":1` made it sign in without encryption.
 * - A socket does not outlive its deadline. The library forgets one whose broker accepts it and says nothing.
 * - A broker cannot fill the memory.
 *
 * The library has no way to end an attempt: its socket is closed at once when the connection is no longer wanted.
 */
import { createConnection, type Socket } from "node:net"
import {
  type ConnectionOptions,
  errors,
  type NatsConnection,
  NatsConnectionImpl,
  setTransportFactory,
} from "@nats-io/transport-node"
import { NodeTransport } from "@nats-io/transport-node/lib/node_transport.js"

/** Of a broker's first line, which is some 500 bytes, with the addresses of a large cluster perhaps 10,000. */
const MOST_GREETING_BYTES = 65_536

/** Of all that a broker sends: 5,000 acknowledgements, and the largest message that a broker can have, as JSON. */
const MOST_BYTES = 100 * 1_048_576

type Target = Parameters<NodeTransport["connect"]>[0]

/** The library's options, which it passes on, and when the connection ends. */
export interface LimitedOptions extends ConnectionOptions {
  readonly ended: AbortSignal
}

class LimitedTransport extends NodeTransport {
  override async connect(target: Target, given: Parameters<NodeTransport["connect"]>[1]): Promise<void> {
    const options = given as LimitedOptions
    options.ended.throwIfAborted()
    options.ended.addEventListener("abort", () => this.socket?.destroy(), { once: true })
    const late = setTimeout(() => this.socket.destroy(), options.timeout)
    try {
      await super.connect(target, options)
    } finally {
      clearTimeout(late)
    }
    // The library signs in after this.
    if (options.tls && !this.isEncrypted()) {
      this.discard()
      throw new errors.ConnectionError("it does not encrypt")
    }
  }

  override dial({ hostname, port }: Pick<Target, "hostname" | "port">): Promise<Socket> {
    return new Promise((resolve, reject) => {
      const socket = createConnection({ host: hostname, port, noDelay: true })
      this.socket = socket
      socket.once("error", reject)
      socket.once("close", reject)
      socket.once("connect", () => {
        socket.removeAllListeners()
        resolve(socket)
      })
    })
  }

  override peekInfo(): ReturnType<NodeTransport["peekInfo"]> {
    this.#limit(MOST_GREETING_BYTES)
    return super.peekInfo()
  }

  override setupHandlers(): void {
    super.setupHandlers()
    this.#limit(MOST_BYTES)
  }

  /** The library removes all listeners of a socket after each step, and this one with them. */
  #limit(most: number): void {
    const { socket } = this
    let bytes = 0
    socket.on("data", (piece) => {
      bytes += piece.length
      if (bytes > most) socket.destroy(new errors.ConnectionError(`it sent more than ${most} bytes`))
    })
  }
}

/** Connects as the library does. */
export const connectLimited = (options: LimitedOptions): Promise<NatsConnection> => {
  setTransportFactory({ factory: () => new LimitedTransport() })
  return NatsConnectionImpl.connect(options)
}

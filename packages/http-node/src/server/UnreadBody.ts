/**
 * Handles the rest of a body that was not read to its end when the response is written. A small rest is read and
 * discarded, for a few seconds, so that the connection can be reused. Beyond that the connection is closed, but so that
 * the client reads the response first: Node would reset it while bytes are queued, and the response might be lost.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

const MAX_DISCARDED_BYTES = 256 * 1024

/** The time a client has to send the rest; Node would wait for as long as a whole request may take, which is minutes. */
const DISCARD_MILLIS = 5_000

/** The time a client has to read the response before its connection is reset. */
const CLOSE_GRACE_MILLIS = 500

/**
 * Whether too much of the body is outstanding to keep the connection after the response. Call it while a header can
 * still announce that.
 */
export const closesConnection = (incoming: IncomingMessage): boolean =>
  Number(incoming.headers["content-length"] ?? 0) > MAX_DISCARDED_BYTES

/** Read by Node's own `finish` listener, which runs after ours. */
interface Internals {
  _consuming?: boolean
  _last?: boolean
}

/** Must be called before the response is written. */
export const endUnreadBody = (
  incoming: IncomingMessage,
  response: ServerResponse,
  discardMillis = DISCARD_MILLIS,
): void => {
  if (incoming.httpVersionMajor !== 1) return
  response.prependListener("finish", () => {
    if (incoming.complete || incoming.destroyed) return
    const { socket } = incoming
    const [request, outgoing] = [incoming as Internals, response as Internals]
    if (outgoing._last === true) {
      // Node would discard the body without limit, and then destroy the socket.
      request._consuming = true
      outgoing._last = false
      return closeGently(socket)
    }
    let bytes = 0
    const giveUp = () => {
      incoming.pause()
      closeGently(socket)
    }
    const timer = setTimeout(giveUp, discardMillis)
    incoming.once("close", () => clearTimeout(timer))
    incoming.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength
      if (bytes > MAX_DISCARDED_BYTES) giveUp()
    })
    incoming.resume()
  })
}

const closeGently = (socket: Socket): void => {
  if (socket.destroyed) return
  socket.end()
  const timer = setTimeout(() => socket.destroy(), CLOSE_GRACE_MILLIS)
  socket.once("close", () => clearTimeout(timer))
}

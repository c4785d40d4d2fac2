/**
 * What becomes of a body that was not read to its end once the answer is written. A little is read and thrown away, so that
 * the connection can go on; past that it is closed, but so that the client reads the answer first: Node would reset it while
 * bytes are queued, and the answer might be lost.
 */
import type { IncomingMessage, ServerResponse } from "node:http"
import type { Socket } from "node:net"

const MOST_THROWN_AWAY = 256 * 1024

/** For the client to read the answer before its connection is reset. */
const CLOSE_GRACE_MILLIS = 500

/** Whether so much of it is still to come that the connection ends with the answer. Said while that can be told in a header. */
export const closesConnection = (incoming: IncomingMessage): boolean =>
  Number(incoming.headers["content-length"] ?? 0) > MOST_THROWN_AWAY

/** What Node's own listener for `finish` reads, which comes after ours. */
interface Internals {
  _consuming?: boolean
  _last?: boolean
}

/** To be called before the answer is written. */
export const endUnreadBody = (incoming: IncomingMessage, response: ServerResponse): void => {
  if (incoming.httpVersionMajor !== 1) return
  response.prependListener("finish", () => {
    if (incoming.complete || incoming.destroyed) return
    const { socket } = incoming
    const [request, answer] = [incoming as Internals, response as Internals]
    if (answer._last === true) {
      // Node would throw the body away without end, and then destroy the socket.
      request._consuming = true
      answer._last = false
      return closeGently(socket)
    }
    let bytes = 0
    incoming.on("data", (chunk: Uint8Array) => {
      bytes += chunk.byteLength
      if (bytes <= MOST_THROWN_AWAY) return
      incoming.pause()
      closeGently(socket)
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

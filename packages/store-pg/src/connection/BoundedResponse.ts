/**
 * A connection whose server may send only so much in response to what was last sent to it. A function behind a view can raise
 * messages of many megabytes one after the other, which nobody asked for, and set whatever setting would hold them back.
 * Bytes are counted, and not messages, so that it is the same on an encrypted connection.
 */
import type { Socket } from "node:net"
import { Duplex } from "node:stream"

/** Why the connection was closed. */
export class ResponseTooLong extends Error {
  constructor(maxBytes: number) {
    super(`a response had more than ${maxBytes} bytes`)
  }
}

export const boundedResponse = (socket: Socket, maxBytes: number): Duplex => {
  let received = 0
  const stream = new Duplex({
    // The socket's own end is what counts.
    allowHalfOpen: true,
    read: () => void socket.resume(),
    write: (chunk: Uint8Array, _encoding, done) => {
      received = 0
      socket.write(chunk, done)
    },
    final: (done) => void socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    },
  })
  socket
    .on("data", (chunk: Uint8Array) => {
      received += chunk.byteLength
      if (received > maxBytes) stream.destroy(new ResponseTooLong(maxBytes))
      else if (!stream.push(chunk)) socket.pause()
    })
    .on("end", () => stream.push(null))
    .on("error", (error) => stream.destroy(error))
    .on("close", () => stream.destroy())
  return stream
}
